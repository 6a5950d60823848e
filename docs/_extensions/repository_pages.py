"""Pages of the repository that the site shows as its own, links to them, and examples without their last blank line."""

from __future__ import annotations

import re
from typing import Any

#: Files beside docs/ and the page that shows each.
PAGES = {"SECURITY.md": "security", "CHANGELOG.md": "changelog", "CONTRIBUTING.md": "contributing"}


def _adapt(app: Any, name: str, source: list[str]) -> None:
    """What reads well on the code host, as the site wants it: links to those files lead to the pages."""
    # Doctest wants a blank line between an example and the fence; readers do not.
    source[0] = re.sub(r"\n\n```$", "\n```", source[0], flags=re.MULTILINE)
    depth = name.count("/")
    for file, page in PAGES.items():
        source[0] = re.sub(
            rf"\]\((?:\.\./){{{depth + 1}}}{re.escape(file)}\)", f"]({'../' * depth}{page}.md)", source[0]
        )


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", _adapt)
    return {"parallel_read_safe": True}
