"""Releases: answers with error bars, free answers to any supported query, exports."""

from .combined import Combined, combine
from .export import export
from .release import TABLE_LIMIT, Release

__all__ = ["TABLE_LIMIT", "Combined", "Release", "combine", "export"]
