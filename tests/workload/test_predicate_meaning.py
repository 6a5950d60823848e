"""What predicates mean: the cells they select, against records evaluated one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rowspace.domain import Categorical, Domain, Numeric
from rowspace.exceptions import InvalidWorkload, PredicateError, TooLarge
from rowspace.workload import predicates
from rowspace.workload.predicate import parse
from rowspace.workload.predicate.syntax import And, Not, Or, Test

from .records import DOMAIN, truth

AGE_TESTS = st.one_of(
    st.builds(
        Test,
        st.just("age"),
        st.sampled_from(["<", ">="]),
        st.tuples(st.sampled_from([-3, 0, 3, 6, 8.5, 9, 12, 40])),
    ),
    st.builds(
        Test,
        st.just("age"),
        st.sampled_from(["<=", ">"]),
        st.tuples(st.sampled_from([-1, 2, 5, 8, 8.25, 11, 99])),
    ),
    st.builds(
        Test,
        st.just("age"),
        st.just("between"),
        st.sampled_from([(0, 2), (3, 8), (-7, 5), (6, 100), (3, 5.5)]),
    ),
)
HEIGHT_TESTS = st.builds(
    Test,
    st.just("height"),
    st.sampled_from(["<", ">="]),
    st.tuples(st.sampled_from([-1, 0, 0.25, 0.5, 0.75, 1, 2])),
)


def _labels(name: str, labels: list[object]) -> st.SearchStrategy[Test]:
    """Tests of equality on categories."""
    one = st.builds(Test, st.just(name), st.sampled_from(["=", "!="]), st.tuples(st.sampled_from(labels)))
    several = st.builds(
        Test, st.just(name), st.just("in"), st.lists(st.sampled_from(labels), min_size=1).map(tuple)
    )
    return one | several


ROOM_ORDER = st.builds(
    Test,
    st.just("rooms"),
    st.sampled_from(["<", "<=", ">", ">="]),
    st.tuples(st.sampled_from([0, 1, 2, 3, 4.5, 5, 9])),
)
TESTS = st.one_of(
    AGE_TESTS,
    HEIGHT_TESTS,
    ROOM_ORDER,
    _labels("sex", ["F", "M", "unknown"]),
    _labels("county", ["Alameda", "Kern", "Clark"]),
    _labels("state", ["CA", "NV"]),
    _labels("coastal", [True, False]),
    _labels("rooms", [1, 2, 5]),
    _labels("owner", [True, False]),
)
CONDITIONS = st.recursive(
    TESTS,
    lambda inner: st.one_of(
        inner.map(Not),
        st.lists(inner, min_size=2, max_size=3).map(tuple).map(And),
        st.lists(inner, min_size=2, max_size=3).map(tuple).map(Or),
    ),
    max_leaves=6,
)


def write(condition: object) -> str:
    """Write a condition with all its parentheses: independent of how the library writes it."""
    match condition:
        case Not(inner):
            return f"NOT ({write(inner)})"
        case And(parts):
            return " And ".join(f"({write(part)})" for part in parts)
        case Or(parts):
            return "  or ".join(f"({write(part)})" for part in parts)
        case Test():
            return str(condition)
    raise AssertionError(condition)


def touched_by(condition: object) -> tuple[str, ...]:
    """Attributes a condition names, levels resolved."""
    names = {name for name in DOMAIN.names if f"{name} " in write(condition)}
    if "state " in write(condition) or "coastal " in write(condition):
        names.add("county")
    return tuple(name for name in DOMAIN.names if name in names)


@settings(max_examples=200, deadline=None)
@given(CONDITIONS)
def test_random_predicates_select_the_cells_where_they_hold(condition):
    names = touched_by(condition)
    expected = truth(condition, names)
    if not any(expected):
        with pytest.raises(PredicateError, match="always be 0"):
            predicates(DOMAIN, [write(condition)])
        return
    workload = predicates(DOMAIN, [write(condition)]).reduced()
    assert workload.domain.names == names
    workload = workload.over(workload.domain.with_places())
    assert workload.weighted_operator().to_dense().ravel().tolist() == [float(cell) for cell in expected]
    # The label is a predicate with the same meaning.
    again = predicates(DOMAIN, workload.labels()).reduced().over(workload.domain)
    assert np.array_equal(again.weighted_operator().to_dense(), workload.weighted_operator().to_dense())
    assert again == workload


@settings(max_examples=100, deadline=None)
@given(CONDITIONS)
def test_writing_and_reading_is_stable(condition):
    once = parse(write(condition))
    assert parse(str(once)) == once


def test_a_conjunction_over_separate_attributes_is_a_product():
    (part,) = predicates(DOMAIN, ["age >= 6 and sex = 'F' and age < 9 and (owner or rooms = 5)"]).parts
    assert [factor.attributes for factor in part.factors] == [("age",), ("sex",), ("rooms", "owner")]


def test_negated_alternatives_are_a_product():
    (part,) = predicates(DOMAIN, ["not (age < 6 or not sex = 'F')"]).parts
    assert [factor.attributes for factor in part.factors] == [("age",), ("sex",)]


def test_a_level_and_its_attribute_are_one_factor():
    (part,) = predicates(DOMAIN, ["state = 'CA' and county != 'Kern'"]).parts
    assert [factor.attributes for factor in part.factors] == [("county",)]
    assert part.entries(0, 1) == {"county": ["Alameda"]}


def test_consecutive_predicates_share_a_part_and_keep_their_order():
    texts = [
        "age < 3 and sex = 'F'",
        "age < 6 and sex = 'F'",
        "age < 6 and sex = 'F'",
        "age < 6 and sex = 'M'",
        "sex = 'M'",
        "sex = 'F'",
        "sex = 'F' or owner",
        "sex = 'M' or owner",
        "age < 9",
    ]
    workload = predicates(DOMAIN, texts)
    assert [part.size for part in workload.parts] == [3, 1, 2, 2, 1]
    singly = [predicates(DOMAIN, [text]).weighted_operator().to_dense() for text in texts]
    assert np.array_equal(workload.weighted_operator().to_dense(), np.concatenate(singly))
    assert workload.labels() == [label for text in texts for label in predicates(DOMAIN, [text]).labels()]


def test_many_predicates_on_one_attribute_are_one_sparse_matrix():
    domain = Domain(age=Numeric(0, 2000, bins=2000, integer=True))
    workload = predicates(domain, [f"age = {k}" for k in range(2000)])
    assert len(workload.parts) == 1
    assert np.array_equal(workload.weighted_operator() @ np.arange(2000), np.arange(2000))


def test_an_always_true_predicate_is_fine():
    workload = predicates(DOMAIN, ["age >= 0"])
    assert workload.weighted_operator().to_dense().min() == 1


def test_one_text_is_a_list_of_one():
    assert predicates(DOMAIN, "age < 3") == predicates(DOMAIN, ["age < 3"])


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("sex = 'F' and agee > 3", 14, "unknown attribute 'agee'; did you mean 'age'"),
        ("stat = 'CA'", 0, "did you mean 'state'"),
        ("zzz = 1", 0, "known: 'age', 'sex'"),
        ("sex = 'X'", 0, "sex has no category 'X'; known: 'F', 'M', 'unknown'"),
        ("sex = 'f'", 0, "did you mean 'F'"),
        ("county in ('Kern', 'Karn')", 0, "no category 'Karn'; did you mean 'Kern'\\? known: 'Alameda'"),
        ("state = 'Kern'", 0, "state has no category 'Kern'"),
        ("sex = 1", 0, "sex holds text, it cannot equal 1"),
        ("owner = 1", 0, "owner holds booleans"),
        ("owner = 'true'", 0, "owner holds booleans"),
        ("rooms = true", 0, "rooms holds integers"),
        ("rooms = 3", 0, "rooms has no category 3; known: 1, 2, 5"),
        ("rooms = 2.5", 0, "rooms has no category 2.5"),
        ("rooms < 'a'", 0, "compare it with a number"),
        ("rooms between 5 and 1", 0, "lower end first"),
        ("sex < 'M'", 0, "no order"),
        ("owner > true", 0, "no order"),
        ("sex", 0, "sex holds text"),
        ("age", 0, "age holds numbers, it cannot be compared with a boolean"),
        ("age = 'old'", 0, "age holds numbers, it cannot be compared with text"),
        ("age < 4", 0, "age < 4 does not fall on a bin edge; the nearest edges are 3 and 6"),
        ("age <= 6", 0, "for integers it means age < 7; the nearest edges are 6 and 9"),
        ("age > 3", 0, "for integers it means age >= 4"),
        ("age = 4", 0, "nearest edges are 3 and 6"),
        ("age = 3", 0, "nearest edges are 3 and 6"),
        ("age = 3.5", 0, "age holds integers, it never equals 3.5"),
        ("age between 6 and 3", 0, "lower end first"),
        ("height < 0.3", 0, "nearest edges are 0.25 and 0.5"),
        ("height <= 0.25", 0, "does not fall on a bin edge.*compare with < or >=, at 0.25"),
        ("height > 0.3", 0, "at 0.25 and 0.5"),
        ("height = 0.25", 0, "may hold any number.*compare with < or >=, at 0.25"),
        ("sex = F", 6, "unknown attribute 'F'.*for a text write 'F'"),
        ("age < 0", 0, "always be 0"),
        ("sex = 'F' and sex = 'M'", 0, "always be 0"),
        ("age >= 12 and sex = 'F'", 0, "no cell of the domain satisfies age >= 12"),
    ],
)
def test_impossible_predicates_are_explained(text, position, message):
    with pytest.raises(PredicateError, match=message) as caught:
        predicates(DOMAIN, ["age >= 3", text])
    assert caught.value.position == position


def test_the_other_bucket_has_no_place_in_an_order():
    domain = Domain(rooms=Categorical([1, 2], other="more"))
    with pytest.raises(PredicateError, match="bucket for everything else has no order"):
        predicates(domain, ["rooms >= 2"])
    assert predicates(domain, ["rooms != 2"]).weighted_operator().to_dense().tolist() == [[1, 0, 1]]
    assert predicates(domain, ["rooms = 'more'"]).weighted_operator().to_dense().tolist() == [[0, 0, 1]]


def test_rounded_edges_are_found():
    domain = Domain(x=Numeric(0.1, 0.7, bins=6))
    for k in range(1, 6):
        workload = predicates(domain, [f"x < 0.{k + 1}"])
        assert workload.weighted_operator().to_dense().sum() == k


def test_continuous_ends_may_lie_outside():
    domain = Domain(x=Numeric(0, 1, bins=2, integer=False))
    assert predicates(domain, ["x <= 1"]).weighted_operator().to_dense().tolist() == [[1, 1]]
    assert predicates(domain, ["x > -0.5"]).weighted_operator().to_dense().tolist() == [[1, 1]]
    assert predicates(domain, ["x between -1 and 7"]).weighted_operator().to_dense().tolist() == [[1, 1]]


def test_coupling_too_many_cells_is_refused():
    domain = Domain({f"a{k}": Numeric(0, 2**12, bins=2**12, integer=True) for k in range(2)})
    with pytest.raises(TooLarge, match="16,777,216 joint cells"):
        predicates(domain, ["a0 < 5 or a1 < 5"])
    assert predicates(domain, ["a0 < 5 and a1 < 5"]).size == 1


def test_too_many_entries_are_refused():
    domain = Domain(a=Numeric(0, 2**20, bins=2**20, integer=True))
    with pytest.raises(TooLarge, match="use ranges or prefixes"):
        predicates(domain, [f"a >= {k}" for k in range(20)])


@pytest.mark.parametrize(
    ("texts", "message"), [([], "at least one text"), (5, "list of texts"), ([None], "must be text")]
)
def test_lists_of_predicates_are_checked(texts, message):
    with pytest.raises(InvalidWorkload, match=message):
        predicates(DOMAIN, texts)


def test_a_domain_is_needed():
    with pytest.raises(InvalidWorkload, match="needs a Domain first, got str"):
        predicates("age", ["age < 3"])


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ("age < 3 or age >= 9", "[0, 3) or [9, 12)"),
        ("age >= 3", "[3, 12)"),
    ],
)
def test_tables_show_the_cells(text, entry):
    assert predicates(DOMAIN, [text]).table() == {"group": ["predicates"], "age": [entry]}


def test_tables_show_long_selections_as_text():
    domain = Domain(k=Numeric(0, 20, bins=20, integer=True), c=Categorical(list("abcdefgh")))
    text = "k in (0, 2, 4, 6, 8)"
    assert predicates(domain, [text]).table()["k"] == [text]
    assert predicates(domain, ["c != 'a'"]).table()["c"] == ["c != 'a'"]
    assert predicates(domain, ["c in ('a', 'd')"]).table()["c"] == ["a or d"]


def test_tables_show_coupled_attributes_as_text():
    table = predicates(DOMAIN, ["sex = 'F' or owner"]).table()
    assert table == {
        "group": ["predicates"],
        "sex": ["sex = 'F' or owner = true"],
        "owner": ["sex = 'F' or owner = true"],
    }
