"""The reproduction as a page of the documentation: which claim, which function, which test, which verdict."""

from __future__ import annotations

from .record import Claim, Verdict
from .reproduction import Reproduction

_OPENING = """# The paper, claim by claim

*Optimizing Linear Counting Queries Under Differential Privacy* (C. Li, M. Hay, V. Rastogi, G. Miklau, A. McGregor, PODS
2010, full version). Every figure, table, example and numeric claim, with the function that computes it and the test
that keeps it.

```
rowspace paper -o out            # a minute or two: paper.html, paper.json, and this page as paper.md
rowspace paper -o out --quick    # seconds: the same claims on smaller domains
```

`paper.html` has the values side by side. Verdicts are computed: a claim holds if its numbers say so; a correction
counts only if the printed value is found wrong and the corrected one right. Theorems have the numbers of the conference
version, in which the theorem on Gaussian noise that the full version adds has none.

From Python:

>>> from rowspace import paper
>>> from rowspace.paper.background import background
>>> for claim in background(paper.QUICK).claims:
...     print(claim.verdict, "|", claim.source.where, "|", claim.ours)
holds | §1 | noise × 2; squared error 2 once, 4 averaged
holds | Figure 1 | entry by entry the same; ranks 4, 4, 4 (the caption's W₄ is Y₄)
holds | Example 2 | 1, 3, 3
corrected | Proposition 1 | 6 by definition
holds | Propositions 2, 3 | largest loss, in ε: I₄ 1, H₄ 1, Y₄ 1
"""


def paper_document(reproduction: Reproduction) -> str:
    """Markdown; the same for every extent, since it holds no measured value."""
    errata = [claim for claim in reproduction.claims if claim.verdict in (Verdict.CORRECTED, Verdict.FAILS)]
    lines = [
        _OPENING,
        "## Errata, each demonstrated\n",
        "| where | the text says | what holds |",
        "|---|---|---|",
        *(_row(claim.source.where, claim.source.words, claim.correction) for claim in errata),
        "\n## Theorem, function, test\n",
    ]
    for chapter in reproduction.chapters:
        lines += [
            f"### {chapter.title}\n",
            "| where | claim | verdict | function | test |",
            "|---|---|---|---|---|",
        ]
        lines += [_claim_row(claim) for claim in chapter.claims]
        lines.append("")
    return "\n".join(lines)


def _claim_row(claim: Claim) -> str:
    source = claim.source
    file, _, name = source.test.partition("::")
    return _row(
        source.where,
        source.words,
        str(claim.verdict),
        f"`{source.function}`",
        f"`{name}` in `{file.removeprefix('tests/')}`",
    )


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
