"""``rowspace release``: spend the budget once, and write the answers."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import typer
from rich.text import Text

from rowspace import instalments, mechanism, planning
from rowspace.domain import Dates
from rowspace.exceptions import FileError, InvalidInput, LedgerError, RowspaceError
from rowspace.ledger import Charge, Ledger, Request
from rowspace.planning import Plan, for_purpose, over_periods
from rowspace.privacy import Privacy
from rowspace.releases import Instalment, Release
from rowspace.sources import check_columns
from rowspace.study import Study
from rowspace.workload import Workload

from .release_files import (
    answers_to_show,
    check_outputs,
    refuse_long_tables,
    release_document,
    require_same_files,
    show_release,
    write_files,
)
from .screen import Screen
from .settings import setting

VARIABLE = "ROWSPACE_LEDGER"
"""Names the ledger where the command does not: an address with a password is not for command lines."""


@dataclass
class Receipt:
    """A ledger that remembers the charge it took and the bytes it keeps for it.

    content: the bytes that were paid for, now or before. taken: the charge, if one was made now; in_doubt: while it is
    being made. default: which budget, where the command does not say.
    """

    ledger: Ledger
    location: str
    default: str | None = None
    content: bytes | None = None
    taken: Charge | None = None
    in_doubt: bool = False
    keeps_sources: ClassVar[bool] = True

    def check(self, plan: Plan | Privacy, dataset: str | None, **about: Any) -> None:
        """Pass the question on."""
        self.ledger.check(plan, dataset or self.default, **about)

    def charge(self, plan: Plan, content: bytes, dataset: str | None, **about: Any) -> Charge:
        """Pass the charge on."""
        self.in_doubt = True
        try:
            self.taken = self.ledger.charge(plan, content, dataset or self.default, **about)
        except RowspaceError:  # which says itself what is so
            self.in_doubt = False
            raise
        self.content = content
        return self.taken

    def request(self, key: str, dataset: str | None) -> Request | None:
        """Pass the question on."""
        return self.ledger.request(key, dataset or self.default)

    def resume(self, charge: int) -> bytes:
        """Pass the question on."""
        self.content = self.ledger.resume(charge)
        return self.content

    def charge_under(self, key: str | None, dataset: str | None) -> Charge | None:
        """The charge that was made under a request's id before."""
        kept = None if key is None else self.request(key, dataset)
        found = () if kept is None else self.ledger.history(dataset or self.default)
        return next((charge for charge in found if kept is not None and charge.id == kept.charge), None)

    @property
    def left(self) -> str:
        """What remains, unless the ledger is busy: the release is made, so that is no failure any more."""
        try:
            return f"; {self.ledger.budget(self.taken.dataset if self.taken else self.default)}"
        except LedgerError:
            return ""

    @property
    def advice(self) -> str | None:
        """How to have the release again; None while nothing was charged."""
        # Not the location of a server: it may hold a password.
        ledger = "LEDGER" if "://" in self.location else shlex.quote(self.location)
        if self.taken is not None:
            return (
                f"the charge is made; have the release at no cost: rowspace budget resume {ledger} {self.taken.id} "
                "-o FILE"
            )
        if self.in_doubt:  # stopped between the commit and the receipt, or before the commit
            return f"a charge may have been made; look for it: rowspace budget history {ledger}"
        return None


@contextmanager
def recoverable(receipt: Receipt | None, screen: Screen) -> Iterator[None]:
    """Say, with whatever ends the block early, how to have what was paid for."""
    try:
        yield
    except RowspaceError as error:
        # What a ledger raises says itself what became of the charge.
        if receipt is not None and receipt.taken is not None:
            error.args = (f"{error}; {receipt.advice}", *error.args[1:])
        raise
    except BaseException:  # an interrupt, too little memory, a bug: the charge stands all the same
        if receipt is not None and receipt.advice is not None:
            screen.err.print(receipt.advice, markup=False, soft_wrap=True)
        raise


def load_plan(plan_file: Path, study: Study) -> Plan:
    """A saved plan that answers the study's queries and promises at least as much privacy.

    Importance weights may differ, and ε or ρ may be smaller: ``plan --target`` and ``--epsilon`` find such plans.
    """
    plan = Plan.load(plan_file)
    asked = _asked(study, plan.over)
    if _queries(plan.workload) != _queries(asked):
        raise FileError(f"{plan_file.name} was made for other queries than the study's; plan again")
    if plan.known != study.known.about(study.domain, plan.workload.domain):
        raise FileError(f"{plan_file.name} was made beside other known facts than the study's; plan again")
    if not _as_private(plan.privacy, study.privacy):
        raise FileError(
            f"{plan_file.name} promises {plan.privacy}, the study {study.privacy}; plan again, or change the study"
        )
    return plan


def _asked(study: Study, over: str | None) -> Workload:
    """The study's queries as a plan has them."""
    asked = for_purpose(study.workload, study.privacy, study.purpose)
    return over_periods(asked, over) if over else asked.reduced()


def _kept_plan(keeper: Receipt, kept: Request, study: Study) -> Plan | None:
    """The plan of a request that was released before, if it is the study's: it is not made twice.

    Planning anew might find another strategy, on another machine, and so refuse what is only tried again.
    """
    plan = Release.from_bytes(keeper.ledger.resume(kept.charge)).plan if kept.paid else None
    is_same = plan is not None and (plan.workload, plan.privacy) == (_asked(study, plan.over), study.privacy)
    return plan if is_same else None


def _queries(workload: Workload) -> Workload:
    """What is asked, however important."""
    return Workload(workload.domain, [dataclasses.replace(part, weight=1.0) for part in workload.parts])


def _as_private(offered: Privacy, wanted: Privacy) -> bool:
    """Whether the promises are of one kind, and the first is no weaker."""
    offered_tree, wanted_tree = offered.to_dict(), wanted.to_dict()
    amounts = [
        (offered_tree.pop(name, 0.0), wanted_tree.pop(name, 0.0)) for name in ("epsilon", "rho", "delta")
    ]
    return offered_tree == wanted_tree and all(have <= want for have, want in amounts)


def release(
    study_file: Path,
    data: str | None,
    outputs: list[Path] | None,
    *,
    ledger: str | None,
    dataset: str | None,
    second_budget: bool,
    no_ledger: bool,
    request_id: str | None,
    table: str | None,
    plan_file: Path | None,
    period: str | None,
    before: Path | None,
    state: Path | None,
    level: float,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Check everything that can be checked, plan, measure once, charge, and write."""
    screen = Screen(quiet, as_json)
    keeper = keeper_of(ledger, dataset, no_ledger=no_ledger)
    kept = _request(keeper, request_id, dataset, period)
    inputs = [Path(path) for path in (study_file, data, plan_file, before, state) if path is not None]
    targets = check_outputs(outputs, [*inputs, *ledger_files(keeper)], force=force or kept is not None)
    study = Study.load(study_file)
    study.require_public()
    address = data if data is not None else study.database_url()
    if address is None:
        raise InvalidInput(
            "expected DATA, a file or a database URL: the study has no [data] section that says where"
        )
    source = study.source(address)
    table = table or study.table_at(address)
    saved = load_plan(plan_file, study) if plan_file else None
    if period is None and (state is not None or before is not None or (saved is not None and saved.over)):
        raise InvalidInput(
            "expected --period, such as --period 2024-03: this is released period by period. Nothing was charged"
        )
    if keeper is not None and kept is not None:
        saved = saved or _kept_plan(keeper, kept, study)
    with screen.working("Checking"):
        if keeper is not None and period is None and kept is None:  # a later instalment costs nothing
            keeper.check(saved or study.privacy, dataset)
        if kept is None:  # else no data is read
            check_columns(source, study.workload.reduced().domain, table, unit=study.privacy.unit)
    with screen.working("Planning"):
        over = None if period is None else _over(study)
        plan = saved or planning.plan(study.workload, study.privacy, over=over, **study.wishes)
        plan = dataclasses.replace(plan, title=study.name)
        refuse_long_tables(plan, targets)
    with recoverable(keeper, screen):
        with screen.working("Counting, adding noise") as progress:
            how: dict[str, Any] = {"dataset": dataset, "second_budget": second_budget, "table": table}
            if period is None:
                made = mechanism.release(
                    plan, source, ledger=keeper, request=request_id, progress=progress, **how
                )
            else:
                made = instalments.instalment(
                    plan, source, ledger=keeper, period=period, before=_loaded(before), state=state, **how
                )
        with screen.working("Writing"):
            if kept is not None and not force:
                require_same_files(
                    made, targets, level, content=keeper.content if keeper is not None else None
                )
            write_files(made, targets, level, content=keeper.content if keeper is not None else None)
            answers = answers_to_show(made, level, all_of_them=as_json)
    charge = None if keeper is None else keeper.taken or keeper.charge_under(request_id, dataset)
    show_release(screen, study.name, made, answers, level, targets, charged(keeper))
    screen.document(
        {"study": study.name, "charge": None if charge is None else charge.to_dict()}
        | release_document(made, answers, level, targets)
    )


def _over(study: Study) -> str:
    """The study's periods: its one attribute of dates."""
    found = [name for name, attribute in study.workload.domain.attributes if isinstance(attribute, Dates)]
    if len(found) != 1:
        raise InvalidInput(
            f"expected a study with one attribute of dates beside --period, got {len(found)}; make the plan with "
            "`rowspace plan --over NAME --save FILE` and give it as --plan"
        )
    return found[0]


def _loaded(before: Path | None) -> Instalment | None:
    """The instalment of the period before."""
    found = None if before is None else Release.load(before)
    if found is not None and not isinstance(found, Instalment):
        raise InvalidInput("expected --before to be the release file of the period before")
    return found


def keeper_of(ledger: str | None, dataset: str | None, *, no_ledger: bool) -> Receipt | None:
    """Who keeps the budget: a ledger, or nobody if that was said."""
    if ledger is None and not no_ledger:
        ledger = setting("ledger")
    if ledger is not None and not no_ledger:
        return Receipt(Ledger(ledger), ledger, None if dataset is not None else setting("dataset"))
    if ledger is None and no_ledger and dataset is None:
        return None
    if ledger is None and not no_ledger:
        raise typer.BadParameter(
            f"say which budget pays: --ledger FILE (see `rowspace budget create`) or {VARIABLE}, or --no-ledger to "
            "keep none"
        )
    raise typer.BadParameter("--no-ledger charges nothing: leave out --ledger and --dataset, or --no-ledger")


def _request(
    keeper: Receipt | None, key: str | None, dataset: str | None, period: str | None
) -> Request | None:
    """What was released under an id before; None if it is new."""
    if key is None:
        return None
    if keeper is None:
        raise typer.BadParameter(
            "--request-id goes with --ledger, which remembers what was released under it"
        )
    if period is not None:
        raise typer.BadParameter("a period is released once, without an id: leave out --request-id")
    return keeper.request(key, dataset)


def ledger_files(keeper: Receipt | None) -> list[Path]:
    """The ledger's own file, which no output may replace."""
    return [] if keeper is None or keeper.ledger.file is None else [keeper.ledger.file]


def charged(keeper: Receipt | None) -> Text:
    """What was charged, and what is left."""
    if keeper is None:
        return Text()
    if keeper.taken is None:
        return Text(" at no cost: it was charged before", "dim")
    charge = keeper.taken
    return Text.assemble((" charged ", "dim"), f"{charge.cost} to {charge.dataset}{keeper.left}")
