"""The domain: names, order, levels, subsets, saving, refusal."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from rowspace.domain import Categorical, Domain, Numeric, did_you_mean, first_few
from rowspace.exceptions import InvalidDomain

STATES = {"Kern": "CA", "Clark": "NV"}
DOMAIN = Domain(
    age=Numeric(0, 100, bins=100),
    sex=Categorical(["F", "M"]),
    county=Categorical(list(STATES), levels={"state": STATES}),
)


def test_shape_and_order():
    assert DOMAIN.names == ("age", "sex", "county")
    assert DOMAIN.shape == (100, 2, 2)
    assert DOMAIN.size == 400
    assert list(DOMAIN) == list(DOMAIN.names)
    assert len(DOMAIN) == 3
    assert "sex" in DOMAIN
    assert "state" not in DOMAIN
    assert DOMAIN.position("county") == 2
    assert DOMAIN["sex"].size == 2


def test_levels_resolve_like_attributes():
    assert DOMAIN.resolve("state") == ("county", "state")
    assert DOMAIN.resolve("county") == ("county", None)
    assert DOMAIN.level("state").labels == ("CA", "NV")
    with pytest.raises(InvalidDomain, match="'age' is an attribute, not a level"):
        DOMAIN.level("age")


def test_subset_keeps_the_order_of_declaration():
    assert DOMAIN.subset(["county", "age"]).names == ("age", "county")
    assert DOMAIN.subset("sex").names == ("sex",)
    assert DOMAIN.subset(DOMAIN.names) == DOMAIN


def test_the_size_may_be_astronomical():
    huge = Domain({f"a{k}": Numeric(0, 2**20, bins=2**20) for k in range(1000)})
    assert huge.size == 2**20000
    assert "about 10^6020.6 cells, 1000 attributes" in str(huge)
    assert str(huge).count("\n") == 21


def test_declarations_are_cheap():
    tracemalloc.start()
    Domain({f"a{k}": Numeric(0, 2**20, bins=2**20) for k in range(30)}).to_dict()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200_000


def test_equality_and_hash():
    same = Domain(list(DOMAIN.attributes))
    assert same == DOMAIN
    assert hash(same) == hash(DOMAIN)
    assert Domain(a=Categorical([1]), b=Categorical([2])) != Domain(b=Categorical([2]), a=Categorical([1]))


def test_round_trip():
    assert Domain.from_dict(json.loads(json.dumps(DOMAIN.to_dict()))) == DOMAIN


A = Categorical(["x"])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Domain(), "the domain is empty"),
        (lambda: Domain({}), "the domain is empty"),
        (lambda: Domain({"a": A}, a=A), "'a' is given twice"),
        (lambda: Domain([("a", A), ("a", A)]), "'a' is given twice"),
        (lambda: Domain({3: A}), "must be text, got int"),
        (lambda: Domain({"": A}), "printable characters"),
        (lambda: Domain({" a": A}), "printable characters"),
        (lambda: Domain({"a\n": A}), "printable characters"),
        (lambda: Domain({"a" * 201: A}), "1 to 200"),
        (lambda: Domain(a=["x"]), "'a' must be Numeric"),
        (lambda: Domain(5), "mapping from names, got int"),
        (lambda: Domain("age"), "mapping from names, got str"),
        (lambda: Domain(["age"]), "pairs"),
        (lambda: Domain(a=A, b=Categorical(["p"], levels={"a": {"p": "q"}})), "given twice: to an attribute"),
        (
            lambda: Domain(
                b=Categorical(["p"], levels={"s": {"p": "q"}}), c=Categorical(["p"], levels={"s": {"p": "q"}})
            ),
            "'s' is given twice: to a level of 'b' and to a level of 'c'",
        ),
        (lambda: Domain(b=Categorical(["p"], levels={4: {"p": "q"}})), "must be text, got int"),
        (lambda: DOMAIN["agee"], "unknown attribute 'agee'; did you mean 'age'"),
        (lambda: DOMAIN["state"], "'state' is a level of 'county'"),
        (lambda: DOMAIN[3], "must be text, got int"),
        (lambda: DOMAIN.resolve("STATE"), "did you mean 'state'"),
        (lambda: DOMAIN.resolve(None), "must be text, got NoneType"),
        (lambda: DOMAIN.subset([]), "at least one attribute"),
        (lambda: DOMAIN.subset(["zzz"]), "known: 'age', 'sex', 'county', 'state'"),
        (lambda: Domain.from_dict([]), "list of attributes"),
        (lambda: Domain.from_dict({"attributes": [5]}), "needs a name and a kind"),
        (
            lambda: Domain.from_dict({"attributes": [{"name": "a", "kind": "text"}]}),
            "needs a name and a kind",
        ),
        (
            lambda: Domain.from_dict({"attributes": [{"kind": "categorical", "values": ["a"]}]}),
            "must be text",
        ),
        (
            lambda: Domain.from_dict(
                {"attributes": [{"name": "a", "kind": "numeric", "low": 0, "high": 1, "bins": 2**70}]}
            ),
            "between 1 and",
        ),
        (
            lambda: Domain.from_dict(
                {"attributes": [{"name": "a", "kind": "numeric", "low": 0, "high": 1, "bins": 1, "x": 1}]}
            ),
            "no field 'x'",
        ),
        (lambda: Domain.from_dict({"attributes": [{"name": "a", "kind": []}]}), "needs a name and a kind"),
    ],
)
def test_impossible_domains_are_refused(make, message):
    with pytest.raises(InvalidDomain, match=message):
        make()


def test_suggestions_do_not_take_long_on_long_words():
    assert did_you_mean("x" * 10_000, ["y" * 10_000]).startswith("known:")
    assert first_few([]) == ""


def test_repr_names_every_attribute():
    assert repr(Domain(sex=Categorical(["F", "M"]))) == "Domain(sex=Categorical(['F', 'M']))"
