"""Colours of pages and figures, for light and for dark screens. Texts have a contrast of at least 4.5 : 1, marks of
3 : 1 (tests/report/html/test_palette.py)."""

from __future__ import annotations

from types import MappingProxyType

LIGHT = MappingProxyType(
    {
        "page": "#f4f6f9",
        "surface": "#ffffff",
        "raised": "#eef2f7",
        "ink": "#17212e",
        "muted": "#51606f",
        "line": "#dce2ea",
        "accent": "#1d5bb8",
        "bar": "#5a8fd8",
        "mark": "#0f2f63",
        "good": "#1c6b43",
        "heat": "#86b3ef",
        "series1": "#1d5bb8",
        "series2": "#b4500b",
        "series3": "#25764b",
        "series4": "#8a3a8f",
    }
)

DARK = MappingProxyType(
    {
        "page": "#0e131a",
        "surface": "#161d27",
        "raised": "#1f2935",
        "ink": "#e6ecf3",
        "muted": "#a5b2c1",
        "line": "#2c3745",
        "accent": "#86b6ff",
        "bar": "#4a80cb",
        "mark": "#d5e4fb",
        "good": "#74cf9d",
        "heat": "#22599f",
        "series1": "#7fb0fb",
        "series2": "#f0a05c",
        "series3": "#70c797",
        "series4": "#d79add",
    }
)
