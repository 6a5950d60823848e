"""A year of monthly releases on one budget: python examples/monthly_releases.py"""

import tempfile
from pathlib import Path

import rowspace as rs
from rowspace.exceptions import BudgetExceeded
from rowspace.ledger import Ledger


def main() -> None:
    """One saved plan, three months of releases, and the fourth that no longer fits."""
    with tempfile.TemporaryDirectory() as folder:
        domain = rs.Domain(hour=rs.Numeric(0, 24, bins=24))
        plan_file = Path(folder, "calls.plan")
        rs.plan(rs.workload.ranges(domain, "hour"), rs.ZCDP(rho=0.02)).save(plan_file)

        ledger = Ledger(Path(folder, "budget.db"))
        ledger.create("calls", rs.ZCDP(rho=0.06))
        calls = [40] * 8 + [200] * 10 + [90] * 6
        for month in range(1, 5):
            try:
                release = rs.release(rs.Plan.load(plan_file), calls, ledger=ledger)
            except BudgetExceeded as refused:
                print(f"month {month}: {refused}")
                continue
            night = release.ask("hour < 6").iloc[0]
            print(
                f"month {month}: {night.answer:.0f} calls at night, standard error {night.std_error:.0f}; "
                f"{ledger.budget('calls')}"
            )


if __name__ == "__main__":
    main()
