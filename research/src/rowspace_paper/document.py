"""The reproduction as a page of the documentation: which claim, which function, which test, which verdict."""

from __future__ import annotations

from .record import Claim, Verdict
from .reproduction import Reproduction

_OPENING = """# The paper, claim by claim

*Optimizing Linear Counting Queries Under Differential Privacy* (C. Li, M. Hay, V. Rastogi, G. Miklau, A. McGregor, PODS
2010, full version). Every figure, table, example and numeric claim, with the function that computes it and the test
that keeps it.

```
pip install 'rowspace[paper]'    # from a clone: pip install . ./research
rowspace paper -o out            # a minute or two: paper.html, paper.json, and this page as paper.md
rowspace paper -o out --quick    # seconds: the same claims on smaller domains
```

`paper.html` has the values side by side. Verdicts are computed: a claim holds if its numbers say so; a correction
counts only if the printed value is found wrong and the corrected one right. Theorems have the numbers of the conference
version, in which the theorem on Gaussian noise that the full version adds has none.

From Python:

```python
>>> from rowspace_paper import QUICK
>>> from rowspace_paper.background import background
>>> for claim in background(QUICK).claims:
...     print(claim.verdict, "|", claim.source.where, "|", claim.ours)
holds | §1 | noise × 2; squared error 2 once, 4 averaged
holds | Figure 1 | entry by entry the same; ranks 4, 4, 4 (the caption's W₄ is Y₄)
holds | Example 2 | 1, 3, 3
corrected | Proposition 1 | 6 by definition
holds | Propositions 2, 3 | largest loss, in ε: I₄ 1, H₄ 1, Y₄ 1

```

## If you implement it

The main results of the paper hold; some lines of its text do not, and these four would do harm:

- **Sensitivity** is the largest column sum over *all* rows of the strategy, not the first n of them; a strategy with
  more queries than cells would otherwise get too little noise
  (`tests/privacy/test_sensitivity.py::test_sensitivity_of_real_matrices`).
- **Program 2** is written in the workload's basis. Its X is not AᵗA; WᵗXW is
  (`tests/strategy/test_gaussian_optimal.py::test_program_2_as_written`).
- **Total error** has the sensitivity squared, everywhere
  (`tests/error/test_analysis.py::test_errors_are_the_papers_formulas`).
- **Hₙ and Yₙ** improve less by rotation than section 6.1 says: the decomposition of Hₙ has sensitivity log n + 0.86,
  not + 0.64, and that of Yₙ log n + 0.41; the printed figure for Yₙ is below what the L2 norm allows
  (`tests/error/test_hierarchy_and_wavelet.py::test_sensitivity_of_the_decompositions`).

Better rotations than the paper's exist, and `strategy.MinSensitivity` finds them
(`tests/paper/test_min_sensitivity.py::test_figures`):

```python
>>> from rowspace import operators as op, strategy
>>> round(strategy.least_sensitivity(op.Hierarchy(4)).sensitivity, 4)       # H₄: 3, and in the paper 2.896
2.5779
>>> round(strategy.least_sensitivity(op.Haar(4)).sensitivity, 4)            # Y₄: 3, and in the paper 2.210
2.0

```
"""

# What the paper could not know: result, function, test.
_AFTER = (
    (
        "a lower bound for every strategy: the dual of Program 2",
        "strategy.dual_bound",
        "strategy/test_bounds.py::test_dual_bound_only_rises",
    ),
    (
        "the least Gaussian noise under (ε, δ)",
        "privacy.ApproxDP",
        "privacy/test_calibration.py::test_analytic_sigma_is_least",
    ),
    (
        "p-Identity strategies (HDMM)",
        "strategy.PIdentity",
        "strategy/test_p_identity.py::test_loss_by_brute_force",
    ),
    (
        "optimal marginals under Gaussian noise (ResidualPlanner)",
        "strategy.Residual",
        "strategy/test_residual.py::test_optimal_by_brute_force",
    ),
    (
        "the least worst query",
        "strategy.GaussianOptimal",
        "strategy/test_worst_query.py::test_bound_holds_for_random_strategies",
    ),
    (
        "V^¼ with sines: ranges and prefixes of a million cells",
        "strategy.Spectral",
        "strategy/test_spectral.py::test_close_to_the_optimum",
    ),
    (
        "intervals for sums of Laplace noise",
        "error.half_widths",
        "releases/test_coverage.py::test_coverage",
    ),
)


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
    lines += ["### After the paper\n", "| result | function | test |", "|---|---|---|"]
    lines += [_row(result, f"`{function}`", _test(test)) for result, function, test in _AFTER]
    return "\n".join([*lines, ""])


def _claim_row(claim: Claim) -> str:
    source = claim.source
    return _row(source.where, source.words, str(claim.verdict), f"`{source.function}`", _test(source.test))


def _test(place: str) -> str:
    """A test by its name and file."""
    file, _, name = place.partition("::")
    return f"`{name}` in `{file.removeprefix('tests/')}`"


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
