from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import rowspace as rs
from rowspace.exceptions import BudgetExceeded, InvalidInput, LedgerError
from rowspace.ledger import Ledger, content_digest, plan_hash
from rowspace.ledger import ledger as ledger_module
from rowspace.ledger.names import check_name, look_alike
from rowspace.ledger.plots import plot_spending
from rowspace.privacy import ApproxDPTheorem3
from tests.ledger.examples import COUNTS, DOMAIN, new_ledger, plan, total


def test_ten_tenths_make_one(tmp_path: Path) -> None:
    """Ten charges of 0.1 fill a budget of 1.0, though ten of the floats 0.1 are more than 1.

    The noise is calibrated to the float and rounded up onto its grid, which brings its real cost to 1/10 at most;
    that is proven for the plan at hand and 1/10 is charged. See `rowspace.ledger.costs`.
    """
    assert 10 * Fraction(0.1) > 1
    ledger = new_ledger(tmp_path, rs.PureDP(1.0))
    tenth = plan(rs.PureDP(0.1))
    for _ in range(10):
        ledger.charge(tenth, b"")
    assert ledger.budget().remaining == 0
    assert total(ledger, "epsilon") == 1
    with pytest.raises(BudgetExceeded, match="0 of 1 epsilon left"):
        ledger.charge(plan(rs.PureDP(1e-3)), b"")


def test_sums_never_drift(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path, rs.ZCDP(1.0))
    for privacy in (rs.ZCDP(0.1), rs.PureDP(0.2), rs.ZCDP(0.3), rs.PureDP(1.0)):
        ledger.charge(plan(privacy), b"")
    spent = Fraction(1, 10) + Fraction(2, 100) + Fraction(3, 10) + Fraction(1, 2)
    assert ledger.budget().spent == spent
    assert str(ledger.budget()) == "0.08 of 1 rho left"
    ledger.charge(plan(rs.PureDP(0.4)), b"")
    assert ledger.budget().remaining == 0


def test_a_charge_records_everything(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path, rs.PureDP(1.0))
    privacy = rs.PureDP(0.25)
    before = datetime.now(UTC).replace(microsecond=0)
    made = ledger.charge(plan(privacy), b"the release")
    (listed,) = ledger.history("people")
    assert listed == made
    assert (made.id, made.dataset, made.privacy) == (1, "people", privacy)
    assert made.plan == plan_hash(plan(privacy))
    assert made.digest == content_digest(b"the release")
    assert before <= made.time <= datetime.now(UTC)
    assert made.who


def test_the_hash_is_of_what_is_asked(tmp_path: Path) -> None:
    first = plan(rs.PureDP(0.25))
    first.save(tmp_path / "a.plan")
    again = rs.plan(first.workload, first.privacy)
    assert plan_hash(rs.Plan.load(tmp_path / "a.plan")) == plan_hash(again) == plan_hash(first)
    assert plan_hash(plan(rs.PureDP(0.5))) != plan_hash(first)


def test_the_hash_is_of_the_numbers_in_arrays_too() -> None:
    """Two matrices of one shape and one sensitivity, whose plans differ in nothing else."""
    queries = rs.workload.ranges(DOMAIN, "age")
    one, other = (
        rs.plan(queries, rs.PureDP(1.0), strategy=np.diag(weights))
        for weights in ([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 6, 5])
    )
    (body, arrays), (other_body, other_arrays) = one.encode(), other.encode()
    asked = ("workload", "privacy", "strategy", "noise")
    assert [body[part] for part in asked] == [other_body[part] for part in asked]
    assert {name: array.shape for name, array in arrays.items()} == {
        name: array.shape for name, array in other_arrays.items()
    }
    assert plan_hash(one) != plan_hash(other)


def test_resume_gives_the_same_bytes(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path, rs.PureDP(1.0))
    made = rs.release(plan(rs.PureDP(0.5)), COUNTS, ledger=ledger)
    before = (tmp_path / "budget.db").read_bytes()
    content = ledger.resume(1)
    assert content == made.to_bytes() == ledger.resume(1)
    assert (tmp_path / "budget.db").read_bytes() == before
    (tmp_path / "again.release").write_bytes(content)
    assert (rs.Release.load(tmp_path / "again.release").noisy_answers == made.noisy_answers).all()
    with pytest.raises(LedgerError, match="no charge 2"):
        ledger.resume(2)


def test_a_refusal_changes_nothing(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path, rs.PureDP(1.0))
    ledger.charge(plan(rs.PureDP(0.7)), b"")
    before = (tmp_path / "budget.db").read_bytes()
    for privacy, error in ((rs.PureDP(0.5), BudgetExceeded), (rs.ZCDP(0.01), LedgerError)):
        with pytest.raises(error):
            ledger.charge(plan(privacy), b"")
        with pytest.raises(error):
            ledger.check(plan(privacy))
    assert (tmp_path / "budget.db").read_bytes() == before


def test_each_dataset_has_its_own(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path, rs.PureDP(1.0))
    ledger.create("census", rs.ZCDP(0.5))
    with pytest.raises(LedgerError, match="'census', 'people'"):
        ledger.charge(plan(rs.PureDP(1.0)), b"")
    ledger.charge(plan(rs.PureDP(1.0)), b"", "people")
    assert [(b.dataset, b.remaining) for b in ledger.budgets()] == [("census", Fraction(1, 2)), ("people", 0)]
    with pytest.raises(LedgerError, match="no budget for 'nobody'"):
        ledger.charge(plan(rs.PureDP(1.0)), b"", "nobody")
    with pytest.raises(LedgerError, match="already"):
        ledger.create("people", rs.PureDP(2.0))


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 201, 7, "people ", " people", "\udcff", "\u202eelpoep"])
def test_bad_names(tmp_path: Path, name: object) -> None:
    with pytest.raises(InvalidInput):
        Ledger(tmp_path / "budget.db").create(name, rs.PureDP(1.0))  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_names_are_never_code(tmp_path: Path) -> None:
    ledger = new_ledger(tmp_path, rs.PureDP(1.0))
    name = "x'); DROP TABLE rowspace_charge; --\"ü"
    ledger.create(name, rs.PureDP(1.0))
    ledger.charge(plan(rs.PureDP(1.0)), b"", name)
    assert [charge.dataset for charge in ledger.history(name)] == [name]


@pytest.mark.parametrize(
    "location", ["", ":memory:", "sqlite://", "mysql://me:secret@host/db", "no url://", 3]
)
def test_bad_locations(location: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        Ledger(location)  # type: ignore[arg-type]
    assert "secret" not in str(caught.value)


def test_budgets_are_in_three_kinds(tmp_path: Path) -> None:
    for budget in (ApproxDPTheorem3(1.0, 1e-6), 1.0):
        with pytest.raises((LedgerError, InvalidInput), match="PureDP, ZCDP or ApproxDP"):
            Ledger(tmp_path / "budget.db").create("people", budget)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "twin",
    [
        "people",
        "People",
        "PEOPLE",
        "\uff50eople",
        "caf\u00e9  2024",
        "cafe\u0301 2024",
        "Café 2024",
        "pe\u043eple",  # Cyrillic o
        "\u0420\u0435\u043eple",  # Cyrillic Er, ie, o
        "peop\u0406e",  # Cyrillic І, which looks like l
        "pe0ple",
        "peopIe",
        "\U0001d5c9\U0001d5be\U0001d5c8\U0001d5c9\U0001d5c5\U0001d5be",  # mathematical letters
        "Café 2O24",
        "peo\ufe0fple",  # a variation selector
        "people\u3164",  # a Hangul filler
        "Café\u28002024",  # a Braille blank
    ],
)
def test_no_second_budget_under_a_name_that_looks_the_same(tmp_path: Path, twin: str) -> None:
    """Accents, widths, case, spaces and confusable characters: two budgets would be taken for one."""
    ledger = new_ledger(tmp_path, rs.PureDP(1.0))
    ledger.create("Cafe\u0301 2024", rs.PureDP(1.0))
    before = (tmp_path / "budget.db").read_bytes()
    with pytest.raises(LedgerError, match="already"):
        ledger.create(twin, rs.PureDP(1.0))
    assert (tmp_path / "budget.db").read_bytes() == before
    for other in ("places", "Pe\u00f6ple", "people 2", "\u043b\u044e\u0434\u0438"):
        ledger.create(other, rs.PureDP(1.0))


# Default_Ignorable_Code_Point by Unicode's own derivation, for what is assigned, besides what is blank: written down
# independently of the code.
INVISIBLE = [
    *"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u180f\u3164\ufeff\uffa0",
    *map(chr, itertools.chain(range(0x200B, 0x2010), range(0x202A, 0x202F), range(0x2060, 0x2070))),
    *map(chr, itertools.chain(range(0xFE00, 0xFE10), range(0xFFF0, 0xFFF9), range(0xE0000, 0xE1000))),
    *map(chr, itertools.chain(range(0x1BCA0, 0x1BCA4), range(0x1D173, 0x1D17B))),
]
BLANK = ["\u2800", "\U00016fe4", "\U0001d159", *(chr(c) for c in range(0x110000) if chr(c).isspace())]


def test_what_is_not_seen_makes_no_other_name() -> None:
    """Every character that is not drawn, anywhere in a name; every blank in the place of a space or at an end."""
    for c in INVISIBLE:
        for twin in (f"{c}people 24", f"pe{c}ople 24", f"people{c} {c}24", f"people 24{c}{c}"):
            assert look_alike("people 24", twin), f"U+{ord(c):04X}"
        with pytest.raises(InvalidInput, match="visible"):
            check_name(c)
    for c in BLANK:
        for twin in (f"people{c}24", f"people {c}24", f"{c}people 24{c}"):
            assert look_alike("people 24", twin), f"U+{ord(c):04X}"
        with pytest.raises(InvalidInput, match="visible"):
            check_name(c)
    assert not look_alike("people 24", "people24")
    check_name("people \u2764\ufe0f")


@pytest.mark.parametrize("dataset", ["\udcff", "a\x00b", "x" * 300])
def test_names_that_no_database_takes(tmp_path: Path, dataset: str) -> None:
    """They were a UnicodeEncodeError from the driver."""
    ledger = new_ledger(tmp_path, rs.PureDP(1.0))
    for attempt in (
        ledger.budget,
        ledger.history,
        lambda name: ledger.charge(plan(rs.PureDP(0.1)), b"", name),
    ):
        with pytest.raises(InvalidInput):
            attempt(dataset)


@pytest.mark.parametrize("number", [0, -1, 2**31, 2**63, 10**30])
def test_numbers_that_no_charge_has(tmp_path: Path, number: int) -> None:
    """Those beyond 64 bits were an OverflowError from the driver."""
    ledger = new_ledger(tmp_path, rs.PureDP(1.0))
    with pytest.raises(LedgerError, match="has no charge"):
        ledger.resume(number)


@pytest.mark.parametrize("user", ["eve\x1b[31m\nroot", "b\udcff"])
def test_a_user_whose_name_is_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: str) -> None:
    """The name comes from the environment: it must neither colour a terminal nor end a release."""
    monkeypatch.setenv("LOGNAME", user)
    ledger = new_ledger(tmp_path, rs.PureDP(1.0))
    rs.release(plan(rs.PureDP(0.1)), COUNTS, ledger=ledger)
    (charge,) = ledger.history()
    assert charge.who.isprintable()
    assert charge.who[0] == user[0]


def test_a_clock_that_is_set_back_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Charges add up and are listed in the order they were made, whatever time they claim."""
    ledger = new_ledger(tmp_path, rs.PureDP(1.0))
    years = (2030, 1970, 2000)
    for year in years:
        monkeypatch.setattr("rowspace.ledger.ledger._now", lambda year=year: f"{year}-01-01T00:00:00+00:00")
        ledger.charge(plan(rs.PureDP(0.25)), b"")
    assert [charge.time.year for charge in ledger.history()] == list(years)
    assert ledger.budget().remaining == Fraction(1, 4)
    drawn = plot_spending(ledger).lines[0].get_xdata()
    assert list(drawn) == sorted(drawn)


def test_a_ledger_stays_where_it_was_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever changes folders afterwards charges the same file, not another of its name."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        new_ledger(tmp_path / name, rs.PureDP(1.0))
    monkeypatch.chdir(tmp_path / "one")
    ledger = Ledger("budget.db")
    monkeypatch.chdir(tmp_path / "two")
    ledger.charge(plan(rs.PureDP(0.5)), b"")
    assert [Ledger(tmp_path / name / "budget.db").budget().charges for name in ("one", "two")] == [1, 0]


def test_by_a_link(tmp_path: Path) -> None:
    """A symbolic link is the file itself. A second hard link is refused: its journal would have another name."""
    ledger = new_ledger(tmp_path, rs.PureDP(1.0))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "link.db").symlink_to(tmp_path / "budget.db")
    linked = Ledger(tmp_path / "elsewhere" / "link.db")
    linked.charge(plan(rs.PureDP(0.5)), b"")
    assert ledger.budget().charges == 1
    (tmp_path / "hard.db").hardlink_to(tmp_path / "budget.db")
    for one in (ledger, linked, Ledger(tmp_path / "hard.db")):
        with pytest.raises(LedgerError, match="several names"):
            one.charge(plan(rs.PureDP(0.5)), b"")
        with pytest.raises(LedgerError, match="several names"):
            one.create("places", rs.PureDP(1.0))
    (tmp_path / "hard.db").unlink()
    ledger.charge(plan(rs.PureDP(0.5)), b"")


def test_a_ledger_that_is_replaced_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a release costs depends on the budget: one that is put in its place takes no charge meant for the other."""
    ledger = new_ledger(tmp_path, rs.ZCDP(1.0))
    (tmp_path / "other").mkdir()
    new_ledger(tmp_path / "other", rs.PureDP(1.0))
    digest = ledger_module.plan_hash

    def replace(made: rs.Plan) -> str:
        (tmp_path / "other" / "budget.db").replace(tmp_path / "budget.db")
        return digest(made)

    monkeypatch.setattr(ledger_module, "plan_hash", replace)
    with pytest.raises(LedgerError, match="replaced meanwhile"):
        ledger.charge(plan(rs.PureDP(0.5)), b"")
    assert ledger.history() == []


def test_charges_from_threads(tmp_path: Path) -> None:
    """One ledger object, many threads: as many win as fit."""
    ledger = new_ledger(tmp_path, rs.PureDP(0.5))

    def attempt(_: int) -> bool:
        try:
            ledger.charge(plan(rs.PureDP(0.1)), b"")
        except BudgetExceeded:
            return False
        return True

    plan(rs.PureDP(0.1))
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(12))) == 5
