"""Run every audit and print one table: `python -m audits`, or `make audit`."""

from __future__ import annotations

import sys
import time

from audits import Row, audit_modules, end


def main() -> None:
    """Run all audits, or those named on the command line, in their long versions."""
    wanted = set(sys.argv[1:])
    modules = {module.__name__.rpartition(".")[2]: module for module in audit_modules()}
    unknown = wanted - set(modules)
    if unknown:
        raise SystemExit(f"expected audits among {', '.join(modules)}, got {', '.join(sorted(unknown))}")
    rows: list[Row] = []
    start = time.monotonic()
    for name, module in modules.items():
        if not wanted or name in wanted:
            rows += [
                Row(f"{name}: {row.name}", row.figure, row.limit, row.ok) for row in module.run(long=True)
            ]
    failed = sum(not row.ok for row in rows)
    end(rows, f"{len(rows)} audits, {failed} failed, {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
