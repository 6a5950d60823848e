"""Small tables for notebooks, in the notebook's own colours. MarkupSafe escapes what is put into them.

Guarantees
- Whatever a text holds, it is text in the table (tests/report/test_notebook.py::test_any_text_stays_text).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from markupsafe import Markup

# Unpaired surrogates cannot be encoded, other controls are not characters of HTML.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_LINE = "border-bottom: 1px solid color-mix(in srgb, currentColor 25%, transparent); padding: .2em .8em;"


def printable(page: str) -> str:
    r"""HTML with U+FFFD in place of everything that is no character of HTML.

    >>> printable("<b>a\x00\ud800\x1b</b>")
    '<b>a���</b>'
    """
    return _UNPRINTABLE.sub("\ufffd", str(page))


def notebook_table(
    caption: Markup | str,
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    note: str = "",
    words: int = 1,
) -> str:
    """A small table: first the columns of `words`, then numbers.

    The caption stands above it as a paragraph: inside, it would be broken to the width of a narrow table.

    >>> notebook_table("Two", ["name", "size"], [["<a>", "2"]]).count("&lt;a&gt;")
    1
    """
    sides = ["left" if index < words else "right" for index in range(len(headings))]

    def row(kind: str, cells: Sequence[str]) -> Markup:
        cell = Markup(f'<{kind} style="text-align: {{}}; {_LINE}">{{}}</{kind}>')
        return Markup("<tr>{}</tr>").format(
            Markup().join(cell.format(side, text) for side, text in zip(sides, cells, strict=True))
        )

    page = Markup(
        '<p style="margin: .6em .8em .3em;">{}</p>'
        '<table style="border-collapse: collapse; font-variant-numeric: tabular-nums;">'
        "<thead>{}</thead><tbody>{}</tbody></table>"
    ).format(caption, row("th", headings), Markup().join(row("td", cells) for cells in rows))
    if note:
        page += Markup('<p style="margin: .3em .8em; opacity: .75;">{}</p>').format(note)
    return printable(page)
