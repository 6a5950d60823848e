"""Reading predicates: grammar, precedence, quoting, limits, and errors that point at the place."""

from __future__ import annotations

import pytest

from rowspace.exceptions import PredicateError
from rowspace.workload.predicate import parse


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("age>=65", "age >= 65"),
        ("age == 65", "age = 65"),
        ("age <> 65", "age != 65"),
        ("age ≤ 65 AND age ≥ 3 and sex ≠ 'F'", "age <= 65 and age >= 3 and sex != 'F'"),
        ("a = 1 or b = 2 and c = 3", "a = 1 or b = 2 and c = 3"),
        ("(a = 1 or b = 2) and c = 3", "(a = 1 or b = 2) and c = 3"),
        ("not a = 1 and b = 2", "not a = 1 and b = 2"),
        ("not (a = 1 and b = 2)", "not (a = 1 and b = 2)"),
        ("NOT NOT a", "not not a = true"),
        ("((a = 1))", "a = 1"),
        ("a = 1 and (b = 2 and c = 3)", "a = 1 and b = 2 and c = 3"),
        ("a between 1 and 2 and b = 3", "a between 1 and 2 and b = 3"),
        ("a not between -1 and +2", "not a between -1 and 2"),
        ("a NOT IN (1,2)", "not a in (1, 2)"),
        ("a in ('x', \"y\")", "a in ('x', 'y')"),
        ("18 <= age < 65", "age >= 18 and age < 65"),
        ("'F' = sex", "sex = 'F'"),
        ("not 1 < a < 2", "not (a > 1 and a < 2)"),
        ("`marital status` = 'it''s'", "`marital status` = 'it''s'"),
        ('`a``b` = "say ""hi"""', "`a``b` = 'say \"hi\"'"),
        ("`and` = 1", "`and` = 1"),
        ("`True` = 1", "`True` = 1"),
        ("prénom = 'Zoë'", "prénom = 'Zoë'"),
        ("x < .5 or x >= 1.5e3 or x < 2.", "x < 0.5 or x >= 1500.0 or x < 2.0"),
        ("x < 1e22", "x < 1e+22"),
        ("b = TRUE or b = False", "b = true or b = false"),
        ("a\n=\t1", "a = 1"),
    ],
)
def test_reads_and_writes_back(text, canonical):
    condition = parse(text)
    assert str(condition) == canonical
    assert parse(canonical) == condition


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("", 0, "predicate is empty"),
        ("   ", 3, "predicate is empty"),
        ("age >", 5, "expected a number or a text in quotes, got the end"),
        ("age > > 3", 6, "expected a number"),
        ("age 65", 4, "expected 'and', 'or' or the end, got '65'"),
        ("age = 3 sex = 'F'", 8, "expected 'and', 'or'"),
        ("and age = 3", 0, "expected the name of an attribute, got 'and'"),
        ("age = 3 and", 11, "expected the name of an attribute, got the end"),
        ("(age = 3", 8, "expected '\\)', got the end"),
        ("age = 3)", 7, "expected 'and'"),
        ("age between 3", 13, "expected 'and' and the upper end"),
        ("age in 3", 7, "expected '\\(', got '3'"),
        ("age in ()", 8, "expected a number"),
        ("age in (3, )", 11, "expected a number"),
        ("age in (3 4)", 10, "expected '\\)'"),
        ("age not 3", 8, "expected 'in' or 'between' after 'not'"),
        ("3", 1, "expected a comparison"),
        ("3 < 4", 2, "two numbers are compared"),
        ("3 < age < ", 10, "expected a number"),
        ("sex = 'F", 6, "quote ' is never closed"),
        ('sex = "F', 6, 'quote " is never closed'),
        ("`sex = 3", 0, "backtick is never closed"),
        ("`` = 3", 0, "backtick is never closed"),
        ("age = 3 && sex = 'F'", 8, "write and, or, not"),
        ("!owner", 0, "write and, or, not"),
        ("age = 3; drop", 7, "unexpected character ';'"),
        ("age = 3abc", 7, "followed by a space"),
        ("age = 1.2.3", 9, "followed by a space"),
        ("age = 1e999", 6, "too large"),
        ("age = " + "9" * 41, 6, "at most 40 characters"),
        ("__import__('os')", 0, "unknown function '__import__'"),
        ("age + 'x' > 3", 6, "expected a name or a number"),
        ("age + 1 > 'x'", 8, "compared with numbers, not with text"),
        ("(age + 1) > 3", 8, "expected a comparison"),
        ("age is old", 7, "expected missing, null, true or false"),
        ("month(3) = 1", 6, "expected the name of an attribute"),
        ("month(when) + 1 = 3", 6, "compared with a value only"),
        ("\x00", 0, "unexpected character"),
    ],
)
def test_mistakes_are_pointed_at(text, position, message):
    with pytest.raises(PredicateError, match=message) as caught:
        parse(text)
    assert caught.value.position == position


def test_the_caret_stands_under_the_mistake():
    with pytest.raises(PredicateError) as caught:
        parse("age >= 65 and\tsex = ?")
    _, line, caret = str(caught.value).split("\n")
    assert line == "  age >= 65 and sex = ?"
    assert caret.index("^") == line.index("?")


def test_the_caret_stands_under_the_mistake_far_into_a_long_text():
    text = "a = 1 and " * 100 + "b = ? or " + "a = 1 and " * 100
    with pytest.raises(PredicateError) as caught:
        parse(text)
    _, line, caret = str(caught.value).split("\n")
    assert len(line) < 80
    assert line[caret.index("^")] == "?"


@pytest.mark.parametrize("text", ["(" * 10_000, "not " * 2_500, "(" * 51 + "a" + ")" * 51])
def test_nesting_is_bounded(text):
    with pytest.raises(PredicateError, match="nested deeper than 50"):
        parse(text)


def test_nesting_within_the_bound_is_read():
    assert str(parse("(" * 49 + "a = 1" + ")" * 49)) == "a = 1"


def test_length_is_bounded():
    with pytest.raises(PredicateError, match="at most 10,000 characters"):
        parse("a = 1 or " * 2_000)
    assert len(parse(" or ".join(["a = 1"] * 1_000)).conditions) == 1_000


@pytest.mark.parametrize("text", [None, 3, b"age = 3", ["age = 3"]])
def test_only_text_is_read(text):
    with pytest.raises(PredicateError, match="must be text"):
        parse(text)
