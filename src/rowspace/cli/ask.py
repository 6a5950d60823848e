"""``rowspace ask``: further answers from a release, for free."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.text import Text

from rowspace.exceptions import InvalidInput, PredicateError, UnsupportedWorkload
from rowspace.releases import Combined, Release, notes_of
from rowspace.report import AnswerGroup, AnswerRow, answer_rows, answers_view, quantiles_view
from rowspace.session import Session, ranks_of
from rowspace.study import Study
from rowspace.workload import asked, naming, words_of

from .screen import Screen, remark_on_facts
from .settings import setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from rowspace.domain import Domain
    from rowspace.workload import Workload


def ask(
    release_file: Path, queries: list[str], quantiles: str | None, level: float, *, as_json: bool, quiet: bool
) -> None:
    """Print the answers to further questions."""
    screen = Screen(quiet, as_json)
    with screen.working("Reading"):
        made = Release.load(release_file)
        if quantiles is None:
            found = _shown(screen, answer_queries(made, queries, level), level)
        else:
            found = _shown_quantiles(screen, made.quantiles(quantiles, _numbers(queries), level=level), level)
    screen.show(Text(f" free: covered by the release's {made.plan.privacy}", style="dim"))
    if made.plan.population:
        screen.show(Text(f" {made.plan.population}"))
    screen.document(notes_of(made, level) | found)


def _numbers(texts: Sequence[str]) -> list[float]:
    """Which quantiles are meant."""
    try:
        return [float(text) for text in texts]
    except ValueError:
        raise InvalidInput("expected quantiles such as 0.25, 0.5 and 0.75 after --quantiles") from None


def _shown(screen: Screen, rows: Sequence[AnswerRow], level: float) -> dict[str, Any]:
    """Show answers; the same for machines."""
    show_answers(screen, rows, level)
    return {"answers": answers_document(rows)}


def _shown_quantiles(screen: Screen, found: pd.DataFrame, level: float) -> dict[str, Any]:
    """Show quantiles; the same for machines."""
    screen.result(quantiles_view(found, level))
    return {"quantiles": found.to_dict(orient="records")}


def show_answers(screen: Screen, rows: Sequence[AnswerRow], level: float) -> None:
    """A table of answers to what was asked."""
    group = AnswerGroup(None, len(rows), tuple(rows))
    screen.result(answers_view([group], level, width=screen.out.width))


def answers_document(rows: Sequence[AnswerRow]) -> list[dict[str, Any]]:
    """The same for machines."""
    fields = ("query", "answer", "std_error", "low", "high")
    return [{field: getattr(row, field) for field in fields} for row in rows]


def answer_queries(made: Release | Combined, texts: Sequence[str], level: float) -> list[AnswerRow]:
    """Answers to conditions and SQL, or which of them cannot be read or answered, and what would help."""
    several = len(texts) > 1
    parts = []
    for text in texts:
        with naming(text, several):
            parts.append(_read(made.plan.domain, text))
    try:
        answers = made.ask(sum(parts[1:], parts[0]), level)
    except UnsupportedWorkload:
        refused = next(
            (t for t, part in zip(texts, parts, strict=True) if not _is_supported(made, part)), texts[0]
        )
        raise UnsupportedWorkload(
            f"this release has not measured enough to answer {refused!r} without bias; ask for sums of what its study "
            "asked, or add the query to the study and release again"
        ) from None
    return _rows(answers, texts, parts)


def _rows(answers: pd.DataFrame, texts: Sequence[str], parts: Sequence[Workload]) -> list[AnswerRow]:
    words = words_of(texts, parts)
    return answer_rows(answers, range(len(words)), words)


def _read(domain: Domain, text: str) -> Workload:
    """What a text asks; where it cannot be read, perhaps with what the shell has to do with it."""
    try:
        return asked(domain, text)
    except PredicateError as error:
        advice = _advice(domain, text)
        if advice and "backtick" not in str(error):
            first, *rest = str(error).split("\n")
            error.args = ("\n".join([f"{first}; {advice}", *rest]), *error.args[1:])
        raise


def _advice(domain: Domain, text: str) -> str | None:
    """What to type for a name that needs backticks, which the shell reads as a command of its own."""
    odd = next((name for name in domain.names if not name.isidentifier() and name in text), None)
    if odd is not None:
        return f"write the name in backticks, and the query in single quotes for the shell: '`{odd}` …'"
    if text.lstrip()[:1] in ("=", "<", ">", "!"):
        return "if a name in backticks is missing here, the shell took it: put the query in single quotes"
    return None


def _is_supported(made: Release | Combined, queries: Workload) -> bool:
    """Whether a release can answer some queries."""
    try:
        made.ask(queries)
    except UnsupportedWorkload:
        return False
    return True


def ask_session(
    file: Path,
    arguments: list[str],
    ledger: str,
    *,
    within: float | None,
    quantiles: str | None,
    price: bool,
    dataset: str | None,
    table: str | None,
    version: str | None,
    key: str | None,
    level: float,
    as_json: bool,
    quiet: bool,
) -> None:
    """Print answers and what they cost, or only the price."""
    if len(arguments) < 2:
        raise typer.BadParameter("give DATA, and then at least one QUERY")
    if price and within is None:
        raise typer.BadParameter("--price needs --within: the accuracy that is priced")
    screen = Screen(quiet, as_json)
    study = Study.load(file)
    study.require_public()
    remark_on_facts(study, screen)
    address, *texts = arguments
    session = Session(
        study.domain,
        study.source(address),
        ledger=ledger,
        dataset=dataset or setting("dataset"),
        expecting=study.workload,
        table=table or study.table_at(address),
        version=version,
    )
    queries = (
        asked(study.domain, texts)
        if quantiles is None
        else ranks_of(study.domain, quantiles, _numbers(texts))
    )
    if price:
        assert within is not None
        with screen.working("Planning"):
            found = session.price(queries, within=within, level=level)
        screen.result(Text(f" {found}"))
        screen.document(
            {
                "price": found.amount,
                "unit": found.unit,
                "affordable": found.affordable,
                "best": found.best,
                "budget": found.remaining.to_dict(),
            }
        )
        return
    with screen.working("Asking"):
        answered = session.ask(queries, within=within, level=level, key=key)
    if quantiles is None:
        rows = _rows(answered.table, texts, [asked(study.domain, text) for text in texts])
        told = _shown(screen, rows, level)
    else:
        # From what is known now: it costs nothing more.
        table_of = session.quantiles(quantiles, _numbers(texts), within=within, level=level, key=key)
        told = _shown_quantiles(screen, table_of, level)
    screen.show(Text(f" {answered.paid}; {answered.remaining}", style="dim"))
    notes = dict(answered.rows.notes)
    if "population" in notes:
        screen.show(Text(f" {notes['population']}"))
    screen.document(
        notes
        | told
        | {
            "cost": answered.cost,
            "unit": answered.unit,
            "charge": answered.charge,
            "known_before": answered.known_before,
            "budget": answered.remaining.to_dict(),
        }
    )
