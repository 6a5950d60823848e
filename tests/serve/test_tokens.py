"""Tokens: only digests are kept, and a file that cannot be read lets nobody in."""

from __future__ import annotations

from pathlib import Path

import pytest

from rowspace.exceptions import FileError, InvalidInput
from rowspace.serve.tokens import Tokens, add, listed, revoke
from tests.cli.running import rowspace


def test_only_digests_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "tokens.toml"
    secret = add(file, "ann", "analyst", 0.1, None)
    assert secret not in file.read_text(encoding="utf-8")
    holder = Tokens(file).holder(secret)
    assert holder is not None
    assert (holder.name, holder.spender.most) == ("ann", holder.spender.most)
    assert str(holder.spender.most) == "1/10"
    assert Tokens(file).holder(secret + "x") is None


@pytest.mark.parametrize(
    "text",
    [
        "[[token]]\nname = 'ann'",
        "[[token]]\nname = 'ann'\nrole = 'king'\nsha256 = '" + "0" * 64 + "'",
        "[[token]]\nname = 'ann'\nrole = 'analyst'\ncap = -1\nsha256 = '" + "0" * 64 + "'",
        "x = 1",
        "\x00",
        2 * ("[[token]]\nname = 'ann'\nrole = 'analyst'\nsha256 = '" + "0" * 64 + "'\n"),
    ],
)
def test_a_broken_file_lets_nobody_in(tmp_path: Path, text: str) -> None:
    file = tmp_path / "tokens.toml"
    secret = add(file, "ann", "analyst", None, None)
    tokens = Tokens(file)
    assert tokens.holder(secret) is not None
    file.write_text(text, encoding="utf-8")
    with pytest.raises(FileError):
        tokens.holder(secret)
    file.unlink()
    with pytest.raises(FileError):
        tokens.holder(secret)


def test_names_are_given_once_and_taken_back(tmp_path: Path) -> None:
    file = tmp_path / "tokens.toml"
    add(file, "ann", "analyst", None, None)
    for bad in ("ann", "", "a b", "x" * 65, "a:b"):
        with pytest.raises(InvalidInput):
            add(file, bad, "analyst", None, None)
    with pytest.raises(InvalidInput):
        add(file, "sam", "steward", 1.0, None)
    revoke(file, "ann")
    assert listed(file) == []
    with pytest.raises(InvalidInput):
        revoke(file, "ann")


def test_the_commands(tmp_path: Path) -> None:
    file = str(tmp_path / "tokens.toml")
    made = rowspace("tokens", "add", file, "ann", "--cap", "0.1", "--expires", "2030-01-01")
    assert made.code == 0
    assert Tokens(file).holder(made.out.strip()) is not None
    shown = rowspace("tokens", "list", file)
    assert "ann" in shown.out
    assert "2030-01-01" in shown.out
    assert made.out.strip() not in shown.out
    assert rowspace("tokens", "revoke", file, "ann").code == 0
    assert rowspace("tokens", "revoke", file, "ann").code == 1
