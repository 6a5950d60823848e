"""The command line reference, written from what the commands themselves say: one page, reference/commands.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import typer

from rowspace.cli.program import app as commands

_START = """# Command line

Every command explains itself with `--help`; this page is made from the same text. Exit codes: 0 done, 1 refused or
failed, 2 misused, 75 try again later, 130 interrupted, 143 ended by SIGTERM. A failure is one line on standard error
that says what was expected, what was got and what to do, and never a value from the data. With `--json` it is the
document on standard output, `{"error": {"kind": "InvalidStudy", "message": "…"}}`, with the same exit code. `rowspace
--install-completion` lets the Tab key complete commands, options and their values.
"""


def page() -> str:
    """The whole page."""
    root = typer.main.get_command(commands)
    return "\n".join([_START, *_section("rowspace", root, depth=2)])


def _section(name: str, command: Any, depth: int) -> list[str]:
    """A command, then its own commands."""
    below: dict[str, Any] = getattr(command, "commands", {})
    out = [] if name == "rowspace" else ["#" * depth + f" {name}", "", *_help(command.help or ""), ""]
    out += [] if name == "rowspace" else _parameters(command)
    for word, each in below.items():
        out += _section(f"{name} {word}", each, depth + (name != "rowspace"))
    return out


def _help(text: str) -> list[str]:
    """The help text: terminal markup off, examples as a block."""
    plain = re.sub(r"\[/?(?:bold|dim|green|cyan|red|yellow)\]", "", text.replace("\b", ""))
    prose, _, examples = plain.partition("Examples\n")
    out = [prose.strip()]
    lines = [line.strip() for line in examples.splitlines() if line.strip()]
    typed = [line for line in lines if line.startswith("rowspace")]
    if typed:
        out += ["", "```console", *("$ " + re.sub(r" {3,}", "      # ", line) for line in typed), "```"]
    return [*out, "", *(line for line in lines if not line.startswith("rowspace"))]


def _parameters(command: Any) -> list[str]:
    """A table of arguments and options."""
    rows = []
    for parameter in command.params:
        if getattr(parameter, "hidden", False) or parameter.name == "help":
            continue
        is_argument = not parameter.opts[0].startswith("-")
        value = "" if getattr(parameter, "is_flag", False) else f" {parameter.metavar or ''}".rstrip()
        word = (
            parameter.metavar or parameter.name.upper() if is_argument else ", ".join(parameter.opts) + value
        )
        text = " ".join(re.sub(r"\[/?(?:bold|dim)\]", "", parameter.help or "").split()).replace("|", "\\|")
        if parameter.required:
            text += " *Required.*"
        elif parameter.show_default and isinstance(parameter.default, (int, float, str, Path)) and value:
            text += f" Default: `{getattr(parameter.default, 'value', parameter.default)}`."
        rows.append(f"| `{word}` | {text} |")
    return ["| argument or option | meaning |", "|---|---|", *rows, ""] if rows else []


def _write(app: Any) -> None:
    """Write the page when it changed, so that rebuilding stays quick."""
    target = Path(app.srcdir) / "reference" / "commands.md"
    text = page()
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", _write)
    return {"parallel_read_safe": True}
