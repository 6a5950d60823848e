"""Pages of the repository that the site shows as its own, and links to them from pages under docs/."""

from __future__ import annotations

import re
from typing import Any

#: Files beside docs/ and the page that shows each.
PAGES = {"SECURITY.md": "security", "CHANGELOG.md": "changelog", "CONTRIBUTING.md": "contributing"}


def _redirect(app: Any, name: str, source: list[str]) -> None:
    """Links to those files, which work on the code host, lead to the pages on the site."""
    depth = name.count("/")
    for file, page in PAGES.items():
        source[0] = re.sub(
            rf"\]\((?:\.\./){{{depth + 1}}}{re.escape(file)}\)", f"]({'../' * depth}{page}.md)", source[0]
        )


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", _redirect)
    return {"parallel_read_safe": True}
