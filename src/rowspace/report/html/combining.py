"""What the page of several releases says in place of a plan: what they promise together, and how they were combined."""

from __future__ import annotations

from rowspace._version import __version__
from rowspace.ledger import content_digest
from rowspace.markup import Markup, element, fragment
from rowspace.releases import TABLE_LIMIT, Combined

from ..numbers import figures, whole
from .privacy import privacy_words
from .shell import Tile


def combined_tiles(both: Combined, parameter: str, step: str) -> tuple[Tile, ...]:
    """The figures that matter; `parameter` and `step` are the first guarantee's."""
    workload = both.plan.workload
    others = len(both.spent) - 1
    return (
        ("answers", whole(workload.size), f"from {whole(workload.domain.size)} cells"),
        ("privacy", parameter, f"together with {others} more of another kind" if others else step),
        ("typical standard error", *_typical_error(both)),
        ("releases", whole(len(both.releases)), "combined, at no cost of privacy"),
    )


def _typical_error(both: Combined) -> tuple[str, str]:
    """The root mean square of the standard errors."""
    if both.plan.workload.size > TABLE_LIMIT:
        return "–", "the answers are too many to look at"
    squares = both.answers()["std_error"] ** 2
    return figures([float(squares.mean()) ** 0.5])[0], "of an answer, in counts (root mean square)"


def combined_privacy(both: Combined) -> Markup:
    """The promises of all releases together, each kind by itself."""
    return fragment(*(privacy_words(privacy) for privacy in both.spent))


def combined_method(both: Combined) -> Markup:
    """How the answers were found, and from which releases."""
    rows = [
        element(
            "tr",
            element("th", str(number), scope="row"),
            element("td", whole(release.plan.workload.size)),
            element("td", str(release.plan.privacy)),
            element("td", rmse),
            element("td", element("code", content_digest(release.to_bytes())[:12])),
        )
        for number, (release, rmse) in enumerate(
            zip(both.releases, figures([release.plan.rmse for release in both.releases]), strict=True),
            start=1,
        )
    ]
    headings = ("release", "answers", "promise", "standard error by itself", "SHA-256")
    caption = "The releases that were combined"
    table = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", *(element("th", text, scope="col") for text in headings))),
        element("tbody", *rows),
    )
    return fragment(
        element(
            "p",
            f"{len(both.releases)} releases of the same table were combined, each weighted by how precise it is. "
            f"They were combined as follows: {both.method}.",
        ),
        element(
            "div",
            element("div", table, class_="scroll", tabindex="0", role="region", aria_label=caption),
            class_="card",
        ),
    )


def combined_citation(both: Combined, title: str, paper: str) -> Markup:
    """How to refer to the combination: by the releases it is made of."""
    digests = ", ".join(content_digest(release.to_bytes()) for release in both.releases)
    citation = (
        f"{title}. {whole(both.plan.workload.size)} counts under {both.plan.privacy}. {len(both.releases)} releases "
        f"combined with rowspace {__version__}. SHA-256 {digests}."
    )
    return fragment(
        element("p", "Cite these numbers as"),
        element("pre", citation),
        element("p", "and the method as"),
        element("pre", paper),
        element("p", "Any further computation on these numbers costs no privacy.", class_="note"),
    )
