"""Small tables for notebooks, in the notebook's own colours. MarkupSafe escapes what is put into them.

Guarantees
- Whatever a text holds, it is text in the table (tests/report/test_notebook.py::test_any_text_stays_text).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from decimal import ROUND_CEILING, Decimal

from markupsafe import Markup

LONGEST = 100


def one_line(text: str) -> str:
    """A text without line breaks, cut to the length of a line; brackets around it stay closed.

    >>> one_line("Numbers(1,\\n  2)")
    'Numbers(1, 2)'
    >>> one_line(f"<{'long ' * 50}>")[-8:]
    'ong lo…>'
    """
    line = " ".join(text.split())
    if len(line) <= LONGEST:
        return line
    closing = line[-1] if line[-1] in ")>" else ""
    return line[: LONGEST - 1 - len(closing)] + "…" + closing


def whole(number: int) -> str:
    """An integer, however large.

    >>> whole(5050), whole(2**100)
    ('5,050', 'about 10^30.1')
    """
    return f"{number:,}" if number < 10**15 else f"about 10^{math.log10(number):.1f}"


def shown_above(value: float, digits: int = 3) -> str:
    """A positive number with up to so many digits, rounded up; a float just above a decimal is that decimal.

    >>> shown_above(2.50431), shown_above(0.0010001), shown_above(12345.0), shown_above(0.1), shown_above(math.inf)
    ('2.51', '0.00101', '12,400', '0.1', '∞')
    >>> shown_above(math.nextafter(0.004803, 1.0), 4)
    '0.004803'
    """
    if math.isinf(value):
        return "∞"
    full = Decimal(repr(math.nextafter(value, 0.0)))
    rounded = full.quantize(Decimal(1).scaleb(full.adjusted() - digits + 1), rounding=ROUND_CEILING)
    text = f"{rounded:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


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


def overview(
    value: object,
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    number: int,
    more: str,
    words: int = 1,
) -> str:
    """The first line of a value's text, its first word in bold, above some of its rows; `number` is how many it has."""
    kind, about = str(value).splitlines()[0].split(" ", 1)
    left_out = f"… and {number - len(rows):,} {more}" if number > len(rows) else ""
    return notebook_table(
        Markup("<strong>{}</strong> {}").format(kind, about), headings, rows, left_out, words=words
    )
