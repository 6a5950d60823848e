"""CSV: types come from the declaration, the dialect from the header line, and nothing from guessing at rows."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from rowspace.domain import Categorical, Domain, Numeric
from rowspace.exceptions import SourceError
from rowspace.sources import count_cells

CODES = Domain(code=Categorical(["01", "1", "#x"]), x=Numeric(0, 4, bins=2))


def write(folder: Path, text: str | bytes, name: str = "rows.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    "text",
    [
        "code,x\n01,1\n1,2\n#x,3\n",
        "code,x\r\n01,1\r\n1,2\r\n#x,3\r\n",
        "code,x\n01,1\n1,2\n#x,3",
        "code,x\n01,1\n1,2\n#x,3\n\n",
        "\ufeffcode,x\n01,1\n1,2\n#x,3\n",
        "code;x\n01;1\n1;2\n#x;3\n",
        "code\tx\n01\t1\n1\t2\n#x\t3\n",
        "x|code\n1|01\n2|1\n3|#x\n",
        '"code","x"\n"01","1"\n"1","2"\n"#x","3"\n',
        ",note,note,code,x\n1,a,b,01,1.0\n2,a,b,1,2e0\n3,a,b,#x, 3\n",
        '"a,b","say ""hi""",code,x\n"1,\t2",z,01,1\n,,1,2\n,,#x,3\n',
        "code,x\n01,1\n1,2\n#x,3\n,1\n01,\n01,nan\n",
    ],
)
def test_dialects(tmp_path: Path, text: str) -> None:
    assert count_cells(write(tmp_path, text), CODES).tolist() == [[1, 0], [0, 1], [0, 1]]


def test_late_rows_do_not_change_how_early_ones_are_read(tmp_path: Path) -> None:
    rows = "".join("7,1\n" for _ in range(30_000))
    domain = Domain(code=Categorical(["7", "'7;8'"]), x=Numeric(0, 4, bins=2))
    assert count_cells(write(tmp_path, "code,x\n" + rows + "'7;8',3\n"), domain).tolist() == [
        [30_000, 0],
        [0, 1],
    ]


def test_integer_categories_compare_as_numbers(tmp_path: Path) -> None:
    path = write(tmp_path, "x\n01\n1\n1.5\n2.0\n\n")
    assert count_cells(path, Domain(x=Categorical([1, 2]))).tolist() == [2, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty file"),
        ("code,x\n01\n", "expected 2 cells"),
        ("code,x\n01,1,1\n", "expected 2 cells"),
        ("code,x\n01,\xe4\n".encode("latin-1"), "is not utf-8 text: .*encoding = "),
        ("code,x\n01,\0\n", "is not utf-8 text"),
        ("code,x\n\ufeff01,1\n", "is not utf-8 text"),
        ("code,x\n01,1".encode("utf-16"), "is not utf-8 text"),
        ("c\xf6de,x\n01,1\n".encode("latin-1"), "is not utf-8 text"),
        ('code,x\n0"1,1\n', "quotes"),
        ('code,x\n"01"1,1\n', "quotes"),
        ('code,x\n"01,1\n', "quotes"),
        ('code,x\n"0\n1",1\n', "quoted_newlines = true"),
        ('co"de,x\n01,1\n', "quotes"),
        ("code,x\r01,1\r", "carriage return"),
        ("code,x\n01,1\r02,1\n", "carriage return"),
        ("code,x\n01,one\n", "column 'x' must hold numbers"),
        ("Code,x\n01,1\n", "did you mean 'Code'"),
        ("code,x,x\n01,1,1\n", "expected one column 'x', got 2"),
        ("01,1\n1,2\n", "header line"),
        (b"\x00\x01\x02\xff\xfe", "is not utf-8 text"),
    ],
)
def test_damaged_files(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        count_cells(write(tmp_path, text), CODES)


def test_damage_is_said_before_all_other_faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where many blocks are read before it."""
    monkeypatch.setattr("rowspace.sources.blocks._CHUNK", 16)
    packed = gzip.compress(b"code,x\n01\n" + b"01,1\n" * 2000)
    with pytest.raises(SourceError, match="cannot be read as CSV"):
        count_cells(write(tmp_path, packed[:-9], "rows.csv.gz"), CODES)
    with pytest.raises(SourceError, match="expected 2 cells"):
        count_cells(write(tmp_path, packed, "rows.csv.gz"), CODES)


def test_damaged_compression(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot be read as CSV"):
        count_cells(write(tmp_path, "code,x\n01,1\n", "rows.csv.gz"), CODES)
