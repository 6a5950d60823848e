"""The state of a studio: one study that is edited, and the work under way for it. It is used from one thread."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from rowspace.exceptions import InvalidInput
from rowspace.planning import budget, targets_of_groups

from .document import Document, with_budget, with_entry, with_weight, without_entry
from .jobs import Job, look, plan_study, solve_targets
from .releasing import price, release_study
from .settings import Settings

_MOST_TARGETS = 60
_Amount = Annotated[float, Field(gt=0, lt=1e9, allow_inf_nan=False)]
_Text = Annotated[str, Field(max_length=20_000)]


class _Sent(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Question(_Sent):
    """A family of queries as the page's form has it. names: attributes. text: conditions, one a line, or SQL."""

    family: Literal[
        "marginal", "ranges", "prefixes", "total", "marginals", "sum", "mean", "predicates", "sql"
    ]
    names: Annotated[list[_Text], Field(max_length=1000)] = []
    measure: _Text = ""
    text: _Text = ""
    up_to: Annotated[int, Field(ge=0, le=20)] = 2
    weight: _Amount = 1.0

    def entry(self) -> dict[str, Any]:
        """Its keys in the study."""
        match self.family:
            case "marginal":
                what: Any = self._named("choose the attributes of the table")
            case "ranges" | "prefixes":
                what = self._named("choose one attribute", most=1)[0]
            case "total":
                what = True
            case "marginals":
                what = {"up_to": self.up_to}
            case "sum" | "mean":
                what = self._written(self.measure, "choose a measure")
            case "predicates":
                what = self._written(self.text, "write a condition").splitlines()
            case "sql":
                what = self._written(self.text, "write SQL that counts")
        by = {"by": self.names} if self.family in ("sum", "mean") and self.names else {}
        return {self.family: what, **by, **({} if self.weight == 1 else {"weight": self.weight})}

    def _named(self, advice: str, most: int = 1000) -> list[str]:
        if not 1 <= len(self.names) <= most:
            raise InvalidInput(advice)
        return self.names

    def _written(self, text: str, advice: str) -> str:
        if not text.strip():
            raise InvalidInput(advice)
        return text.strip()


class Change(_Sent):
    """A change of the study. revision: that of the study on the page. budget: where its slider stands, if anywhere."""

    revision: int
    budget: _Amount | None = None
    do: Literal["add", "weight", "remove", "budget", "undo", "reload"]
    card: int = 0
    weight: _Amount = 1.0
    question: Question | None = None


class Targets(_Sent):
    """Half-widths at 95 % that are wanted, by group; none ends the search."""

    revision: int
    targets: Annotated[dict[str, _Amount], Field(max_length=_MOST_TARGETS)]


class Saved(_Sent):
    """A wish to save. revision, budget: as in `Change`."""

    revision: int
    budget: _Amount | None = None


class Confirmed(_Sent):
    """A release that was confirmed. key: from its price."""

    revision: int
    key: Annotated[str, Field(max_length=100)]


class Desk:
    """A study file, its changes, and the work: the plan, the budget for targets, a look at the data, a release."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.document = Document(settings.study)
        self.revision = 1
        self.plan, self.targets, self.look, self.release = Job(), Job(), Job(), Job()

    def begin(self) -> None:
        """Plan for the study as it is."""
        self.plan.start(plan_study, self.document.text, self.document.folder)

    def end(self) -> None:
        """Stop all work."""
        for job in (self.plan, self.targets, self.look, self.release):
            job.stop()

    def change(self, wanted: Change) -> None:
        """Change the study, or say in one sentence why not; what is planned is planned anew."""
        self.require(wanted.revision)
        document = self.document
        if wanted.do == "reload":
            document.reload()
        elif wanted.do == "undo":
            document.undo()
        else:
            document.change(_changed(self._with_budget(wanted.budget), wanted))
        self.revision += 1
        self.targets.stop()
        self.targets.state = {}
        self.begin()

    def solve(self, wanted: Targets) -> None:
        """Look for the least budget for some targets."""
        self.require(wanted.revision)
        self.targets.stop()
        self.targets.state = {}
        texts = [f"{group}: ±{width:g} @95%" for group, width in wanted.targets.items()]
        if texts:
            names = [part.group for part in self.document.study.workload.parts]
            targets_of_groups(texts, names)
            self.targets.start(solve_targets, self.document.text, self.document.folder, texts)

    def save(self, wanted: Saved) -> None:
        """Write the study, with the budget that the slider shows."""
        self.require(wanted.revision)
        self.document.change(self._with_budget(wanted.budget))
        self.document.save()
        points = self.plan.state.get("figures", {}).get("points", [])
        if points and budget(self.document.study.privacy) not in [one["budget"] for one in points]:
            self.begin()

    def _with_budget(self, value: float | None) -> str:
        text = self.document.text
        return text if value is None else with_budget(text, value)

    def check(self) -> None:
        """Look at the data, for the curator."""
        if self.settings.data is None:
            raise InvalidInput(
                "this studio was started without data; start it with `rowspace studio STUDY DATA`"
            )
        self.look.start(
            look, self.document.text, self.document.folder, self.settings.data, self.settings.table
        )

    def price(self) -> dict[str, Any]:
        """What a release of the study costs."""
        return price(self.settings, self.document)

    def begin_release(self, wanted: Confirmed) -> None:
        """Release what was confirmed; what is under way is not begun twice."""
        self.require(wanted.revision)
        offered = self.price()
        if offered["key"] != wanted.key:
            raise Outdated
        if not self.release.is_working:
            shown = self.plan.news().state.get("figures", {}).get("effort", "best")
            self.release.start(release_study, self.settings, wanted.key, None if offered["paid"] else shown)

    def require(self, revision: int) -> None:
        """Refuse what a page says that shows another study than there is now."""
        if revision != self.revision:
            raise Outdated

    def news(self, seen: dict[str, int]) -> dict[str, Any]:
        """What is new to a page that has seen such versions."""
        jobs = {name: _news(getattr(self, name).news(), version) for name, version in seen.items()}
        own = budget(self.document.study.privacy)
        return {"revision": self.revision, "saved": self.document.is_saved, "own": own, **jobs}


class Outdated(Exception):
    """A page shows a study that was changed elsewhere."""


def _news(job: Job, seen: int) -> dict[str, Any]:
    told = {"version": job.version, "doing": job.state.get("doing"), "seconds": round(job.seconds, 1)}
    return told if seen == job.version else {**job.state, **told}


def _changed(text: str, wanted: Change) -> str:
    match wanted.do:
        case "add" if wanted.question is not None:
            return with_entry(text, wanted.question.entry())
        case "weight":
            return with_weight(text, wanted.card, wanted.weight)
        case "remove":
            return without_entry(text, wanted.card)
        case "budget":
            return text
    raise InvalidInput("expected a question to add")
