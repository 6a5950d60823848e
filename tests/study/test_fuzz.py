"""Any text at all gives a study or one clear error."""

from __future__ import annotations

import contextlib
import random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rowspace.exceptions import RowspaceError
from rowspace.study import Study
from rowspace.study.writing import comment
from tests.study.examples import BAD, SMALL

KEYS = st.sampled_from(
    [
        "study",
        "privacy",
        "domain",
        "workload",
        "data",
        "name",
        "type",
        "low",
        "high",
        "bins",
        "edges",
        "outside",
        "integer",
        "categories",
        "other",
        "levels",
        "epsilon",
        "delta",
        "rho",
        "neighbours",
        "ranges",
        "prefixes",
        "widths",
        "width",
        "marginal",
        "marginals",
        "product",
        "total",
        "predicates",
        "weight",
        "up_to",
        "exactly",
        "sets",
        "url",
        "url_env",
        "table",
        "age",
        "sex",
    ]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["age", "sex", "numeric", "categorical", "age < 5", "drop"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
LINES = SMALL.splitlines()


def _toml(value: object) -> str:
    """A value as TOML, or something that is none."""
    match value:
        case None:
            return "1979-05-27T07:32:00Z"
        case bool():
            return str(value).lower()
        case list():
            return f"[{', '.join(map(_toml, value))}]"
        case dict():
            return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }"
        case str():
            return '"' + value.replace("\\", "").replace('"', "") + '"'
    return repr(value)


def read(text: str) -> None:
    with contextlib.suppress(RowspaceError):
        Study.parse(text)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, len(LINES) - 1), st.lists(st.tuples(KEYS, VALUES), min_size=1, max_size=3))
def test_any_text_is_a_study_or_one_clear_error(line: int, settings_: list[tuple[str, object]]) -> None:
    """Lines of a right study replaced by settings of any kind in any place."""
    new = [f"{key} = {_toml(value)}" for key, value in settings_]
    read("\n".join([*LINES[:line], *new, *LINES[line + 1 :]]))


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200))
def test_any_characters(text: str) -> None:
    read(text)
    read(SMALL + text)
    read(comment(text) + SMALL)


@settings(max_examples=100, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from(sorted(BAD)))
def test_shuffled_lines(order: random.Random, name: str) -> None:
    lines = (SMALL + BAD[name][0][:5000]).splitlines()
    order.shuffle(lines)
    read("\n".join(lines))


def test_a_comment_cannot_break_out() -> None:
    assert "\n" not in comment("a\nb\x00\x7f\x85\u2028")
