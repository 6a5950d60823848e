"""Run every audit and print one table: `python -m audits`, or `make audit`, which renews docs/audits.md as well."""

from __future__ import annotations

import argparse
import os
import sys
import time

from audits import Row, audit_modules, end, page


def main() -> None:
    """Run all audits, or those named on the command line, in their long versions."""
    modules = {module.__name__.rpartition(".")[2]: module for module in audit_modules()}
    parser = argparse.ArgumentParser(prog="python -m audits", description="The long privacy audits.")
    parser.add_argument("names", nargs="*", metavar="AUDIT", help=f"all unless some of {', '.join(modules)}")
    parser.add_argument("--write", action="store_true", help="renew their sections of docs/audits.md")
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(modules):
        parser.error(f"expected audits among {', '.join(modules)}, got {', '.join(sorted(unknown))}")
    rows: list[Row] = []
    start = time.monotonic()
    for name in asked.names or modules:
        began = _processor_seconds()
        _say(f"{name}: running, {time.monotonic() - start:.0f} s so far")
        found = modules[name].run(long=True)
        _say(f"{name}: {sum(not row.ok for row in found)} of {len(found)} checks failed")
        if asked.write:
            page.renew(page.PAGE, modules[name], found, _processor_seconds() - began)
        rows += [Row(f"{name}: {row.name}", row.figure, row.limit, row.ok) for row in found]
    failed = sum(not row.ok for row in rows)
    end(rows, f"{len(rows)} checks, {failed} failed, {time.monotonic() - start:.0f} s")


def _processor_seconds() -> float:
    """Of this process and of those that it started and that have ended, whatever else the machine does."""
    return sum(os.times()[:4])


def _say(text: str) -> None:
    """Tell whoever waits: all audits together take half an hour of a processor."""
    print(text, file=sys.stderr, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
