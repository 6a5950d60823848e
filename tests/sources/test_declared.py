"""CSV files as they are declared: one test for each thing that can be said about them."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import rowspace as rs
from rowspace.exceptions import InvalidInput, SourceError
from rowspace.sources import blocks, count_cells, count_marginals
from rowspace.sources.drafting import sketch_columns

DOMAIN = rs.Domain(sex=rs.Categorical(["M", "Ä"], other="?"), age=rs.Numeric(0, 100, bins=2))
ROWS = "sex,age\nM,1\nÄ,60\nÄ,99\nß,7\n"
COUNTS = [[1, 0], [0, 2], [1, 0]]


def write(folder: Path, text: str, encoding: str = "utf-8", name: str = "rows.csv") -> Path:
    data = text.encode(encoding)
    (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return folder / name


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz", "rows.data"])
@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "latin-1", "windows-1252", "mac-roman", "utf-16", "utf-16-le", "cp437"]
)
def test_encodings(tmp_path: Path, encoding: str, name: str) -> None:
    declared = rs.CSV(write(tmp_path, ROWS, encoding, name), encoding=encoding)
    assert count_cells(declared, DOMAIN).tolist() == COUNTS


@pytest.mark.parametrize("encoding", ["shift_jis", "euc_jp", "gb18030", "big5", "euc_kr"])
def test_encodings_whose_characters_hold_bytes_of_others(tmp_path: Path, encoding: str) -> None:
    # In Shift JIS the second byte of 表 is a backslash, of others it is "|".
    domain = rs.Domain(a=rs.Categorical(["表", "一"]))
    path = write(tmp_path, "a|b\n表|1\n一|2\n表|3\n", encoding)
    assert count_cells(rs.CSV(path, encoding=encoding), domain).tolist() == [2, 1]


def test_utf_16_needs_a_mark(tmp_path: Path) -> None:
    path = write(tmp_path, ROWS, "utf-16-le")
    with pytest.raises(SourceError, match="not utf-16 text"):
        count_cells(rs.CSV(path, encoding="utf-16"), DOMAIN)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(SourceError, match="not utf-16-le text"):
        count_cells(rs.CSV(path, encoding="utf-16-le"), DOMAIN)


@pytest.mark.parametrize("chunk", [7, 20, 2**22])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_lines_of_odd_length_shift_no_others(tmp_path: Path, encoding: str, chunk: int) -> None:
    lines = [line.encode(encoding) for line in ROWS.splitlines(keepends=True)]
    path = tmp_path / "rows.csv"
    domain = rs.Domain(sex=rs.Categorical(["M", "Ä"], other="else"))
    with patch.object(blocks, "_CHUNK", chunk):
        path.write_bytes(b"".join(lines))
        assert count_cells(rs.CSV(path, encoding=encoding), domain).tolist() == [1, 2, 1]
        for place in range(len(lines[1]) - 1):
            odd = lines[1][:place] + b"x" + lines[1][place:]
            path.write_bytes(b"".join([lines[0], odd, *lines[2:4], odd, *lines[4:]]))
            with pytest.raises(SourceError, match="text"):
                count_cells(rs.CSV(path, encoding=encoding), domain)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "cp1253", "shift_jis", "gb18030"])
def test_another_encoding_is_said_and_no_value(tmp_path: Path, encoding: str) -> None:
    path = write(tmp_path, ROWS.replace("ß", "ÿ"), "latin-1")
    with pytest.raises(
        SourceError, match=f"rows.csv is not {encoding} text: declare .*encoding = "
    ) as failure:
        count_cells(rs.CSV(path, encoding=encoding), DOMAIN)
    assert "Ä" not in str(failure.value)
    with pytest.raises(SourceError, match="encoding = "):
        sketch_columns(rs.CSV(path, encoding=encoding))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", ":", " ", "\x1f", "^"])
def test_delimiters(tmp_path: Path, delimiter: str) -> None:
    path = write(tmp_path, ROWS.replace(",", delimiter))
    assert count_cells(rs.CSV(path, delimiter=delimiter), DOMAIN).tolist() == COUNTS


def test_names_of_a_file_without_a_header(tmp_path: Path) -> None:
    path = write(tmp_path, "M,1,x\nÄ,60,x\nÄ,99,x\nß,7,x\n")
    assert count_cells(rs.CSV(path, names=["sex", "age", "note"]), DOMAIN).tolist() == COUNTS
    with pytest.raises(SourceError, match="expected 2 cells"):
        count_cells(rs.CSV(path, names=["sex", "age"]), DOMAIN)
    with pytest.raises(SourceError, match=r"expected a column 'age'.*did you mean 'Age'"):
        count_cells(rs.CSV(path, names=["sex", "Age", "note"]), DOMAIN)


def test_nulls_and_spaces(tmp_path: Path) -> None:
    path = write(tmp_path, 'sex, age\n M , 1\nÄ,\t60 \n" Ä",99\nNA,7\nM, NA \nM,"?"\nM,  \n')
    declared = rs.CSV(path, nulls=["NA", "?"], strip=True)
    assert count_cells(declared, DOMAIN).tolist() == COUNTS
    with pytest.raises(SourceError, match=r"column 'age' must hold numbers.*nulls = \[\"NA\"\]"):
        count_cells(rs.CSV(path, strip=True), DOMAIN)
    with pytest.raises(SourceError, match="column 'age'"):
        count_cells(path, DOMAIN)


def test_nulls_without_strip_are_whole_cells(tmp_path: Path) -> None:
    path = write(tmp_path, "a\nNA\n NA\nx\n")
    domain = rs.Domain(a=rs.Categorical([" NA", "NA", "x"], other="missing"))
    assert count_cells(rs.CSV(path, nulls=["NA"]), domain).tolist() == [1, 0, 1, 1]


def test_case_of_categories(tmp_path: Path) -> None:
    path = write(tmp_path, "sex,age\nm,1\nä,60\nÄ,99\nx,7\n")
    assert count_cells(rs.CSV(path, ignore_case=True), DOMAIN).tolist() == COUNTS
    assert count_cells(path, DOMAIN).tolist() == [[0, 0], [0, 1], [2, 1]]
    with pytest.raises(InvalidInput, match="ignore_case makes two categories of 'sex' the same"):
        count_cells(rs.CSV(path, ignore_case=True), rs.Domain(sex=rs.Categorical(["m", "M"])))


def test_case_of_many_categories_and_of_units(tmp_path: Path) -> None:
    words = [f"Word {k}" for k in range(100)]
    path = write(tmp_path, "w,u\n" + "".join(f"{word.upper()},{k % 2}\n" for k, word in enumerate(words)))
    domain = rs.Domain(w=rs.Categorical(words))
    assert count_cells(rs.CSV(path, ignore_case=True), domain).tolist() == [1] * 100
    unit = rs.privacy.PrivacyUnit("u", rows=3)
    assert count_cells(rs.CSV(path, ignore_case=True), domain, unit=unit).sum() == 6


def test_line_breaks_in_cells(tmp_path: Path) -> None:
    path = write(tmp_path, '"note\nnote",sex,age\n"1\r\n2",M,1\n"a ""b""\n\n",Ä,60\n,Ä,99\n"\r",ß,7\n')
    assert count_cells(rs.CSV(path, quoted_newlines=True), DOMAIN).tolist() == COUNTS
    with pytest.raises(SourceError, match="quoted_newlines"):
        count_cells(path, DOMAIN)


@pytest.mark.parametrize("text", ["sex,age\n", "sex,age", "sex,age\r\n\r\n", "\ufeffsex,age\n\n\n"])
def test_a_file_of_headers_has_no_records(tmp_path: Path, text: str) -> None:
    assert count_cells(write(tmp_path, text), DOMAIN).sum() == 0
    assert count_marginals(write(tmp_path, text), DOMAIN, [(0,)]).table((0,)).sum() == 0


@pytest.mark.parametrize("text", ["", "\ufeff", "\n", "\n\n"])
def test_an_empty_file_has_no_records_if_it_needs_no_header(tmp_path: Path, text: str) -> None:
    path = write(tmp_path, text)
    assert count_cells(rs.CSV(path, names=["sex", "age"]), DOMAIN).sum() == 0
    with pytest.raises(SourceError, match="expected a first line that names the columns"):
        count_cells(path, DOMAIN)


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"encoding": "utf-7"}, "unknown encoding"),
        ({"encoding": "raw_unicode_escape"}, "unknown encoding"),
        ({"encoding": "iso2022_jp"}, "unknown encoding"),
        ({"encoding": "rot13"}, "unknown encoding"),
        ({"encoding": 8}, "unknown encoding"),
        ({"encoding": "x\0"}, "unknown encoding"),
        ({"delimiter": ""}, "one character"),
        ({"delimiter": ",,"}, "one character"),
        ({"delimiter": '"'}, "one character"),
        ({"delimiter": "\n"}, "one character"),
        ({"delimiter": "1"}, "one character"),
        ({"delimiter": "·"}, "one character"),
        ({"names": []}, "empty list"),
        ({"names": "ab"}, "expected names as a list"),
        ({"names": ["a", "b", "a"]}, "'a' twice"),
        ({"names": ["a", 1]}, "other things"),
        ({"nulls": "NA"}, "expected nulls as a list"),
        ({"nulls": [None]}, "other things"),
        ({"strip": 1}, "strip to be true or false"),
        ({"ignore_case": "yes"}, "ignore_case to be true or false"),
    ],
)
def test_declarations_that_cannot_be(declared: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        rs.CSV("rows.csv", **declared)


def test_a_path_that_is_none() -> None:
    with pytest.raises(InvalidInput, match="path of a CSV file"):
        rs.CSV(3)  # type: ignore[arg-type]


def test_sketches_name_what_they_pass_over(tmp_path: Path) -> None:
    path = write(tmp_path, "sex,age,Sex,age,,note\nm,1,M,2,3,a\nM,2,M,2,3,b\n")
    kinds = {column.name: column.kind for column in sketch_columns(path)}
    assert kinds == {"sex": "repeated", "age": "repeated", "Sex": "repeated", "": "unnamed", "note": "text"}


def test_sketches_are_of_the_file_as_declared(tmp_path: Path) -> None:
    path = write(tmp_path, "m, 1\nM, ?\nf, 3\n")
    sex, age = sketch_columns(rs.CSV(path, names=["sex", "age"], strip=True, nulls=["?"], ignore_case=True))
    assert len(sex.values) == 2
    assert (age.kind, age.low, age.high) == ("numbers", 1, 3)


@pytest.mark.parametrize("text", ["1_0", "1_000", "1e1_0"])
@pytest.mark.parametrize(
    "attribute", [rs.Numeric(0, 2000, bins=2), rs.Categorical([1, 10, 1000])], ids=["numbers", "integers"]
)
def test_underscores_are_no_part_of_a_number(tmp_path: Path, text: str, attribute: Any) -> None:
    """DuckDB would read them as Python does."""
    path = tmp_path / "rows.csv"
    path.write_text(f"x\n1\n{text}\n")
    domain = rs.Domain(x=attribute)
    with pytest.raises(SourceError, match="got text that cannot be read so"):
        count_cells(path, domain)
    found = rs.check(domain, path)
    assert (found.accepted, found.columns[0].unreadable, found.columns[0].values) == (False, 1, ((text, 1),))
    assert sketch_columns(path)[0].kind == "text"
