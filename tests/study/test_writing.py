"""A written study reads back as what was written."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rowspace.domain import Attribute, Categorical, Domain, Numeric
from rowspace.exceptions import InvalidStudy
from rowspace.privacy import ZCDP, ApproxDP, ApproxDPTheorem3, Neighbours, Privacy, PureDP
from rowspace.study import Study, write_study

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
NAMES = TEXT.filter(lambda text: text.isprintable() and text == text.strip())
EDGES = st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=5, unique=True).map(sorted)
NUMERIC = st.builds(
    lambda edges, outside: Numeric(edges=edges, outside=outside), EDGES, st.sampled_from(["drop", "clip"])
) | st.builds(
    lambda low, width: Numeric(low, low + 7 * width, bins=7), st.integers(-50, 50), st.integers(1, 9)
)


@st.composite
def categoricals(draw: st.DrawFn) -> Categorical:
    labels = st.lists(TEXT, min_size=1, max_size=5, unique=True) | st.lists(
        st.integers(-(2**40), 2**40), min_size=1, max_size=5, unique=True
    )
    values = draw(labels)
    other = draw(st.none() | st.just("\x7f everything else"))
    coarse = draw(st.sampled_from([["north", 'so"uth'], [1, 2]]))
    levels = {"any level": {value: draw(st.sampled_from(coarse)) for value in values}}
    return Categorical(values, other=other, levels=draw(st.sampled_from([None, levels])))


@st.composite
def domains(draw: st.DrawFn) -> Domain:
    names = draw(
        st.lists(NAMES.filter(lambda name: name != "any level"), min_size=1, max_size=3, unique=True)
    )
    # Only one may have the level: names of levels are unique in a domain.
    attributes: dict[str, Attribute] = {name: draw(NUMERIC) for name in names}
    attributes[names[0]] = draw(NUMERIC | categoricals())
    return Domain(attributes)


@settings(max_examples=120, deadline=None)
@given(domains(), TEXT, TEXT)
def test_domains_read_back(domain: Domain, name: str, note: str) -> None:
    name = name.strip() or "x"
    text = write_study(
        name, domain, PureDP(1.0), [{"total": True}], header=[note], notes={domain.names[0]: note}
    )
    study = Study.parse(text)
    assert study.domain == domain
    assert study.name == name


@pytest.mark.parametrize(
    "privacy", [PureDP(0.1), ApproxDP(1.0, 1e-9, Neighbours.REPLACE_ONE), ZCDP(0.5)], ids=str
)
def test_guarantees_read_back(privacy: Privacy) -> None:
    text = write_study("x", Domain(a=Numeric(0, 3, bins=3)), privacy, [{"total": True}])
    assert Study.parse(text).privacy == privacy


def test_what_a_study_cannot_say_is_refused() -> None:
    domain = Domain(a=Numeric(0, 3, bins=3))
    with pytest.raises(InvalidStudy, match="got ApproxDPTheorem3"):
        write_study("x", domain, ApproxDPTheorem3(1.0, 1e-6), [{"total": True}])
    with pytest.raises(InvalidStudy, match="got object"):
        write_study("x", domain, PureDP(1.0), [{"total": object()}])


def test_long_lists_are_wrapped() -> None:
    domain = Domain(place=Categorical([f"place number {i}" for i in range(40)]))
    text = write_study("x", domain, PureDP(1.0), [{"total": True}])
    assert max(map(len, text.splitlines())) <= 100
    assert Study.parse(text).domain == domain
