"""All tables of one and two attributes and every range of ages, as whole numbers too: python examples/all_tables.py"""

from pathlib import Path

import rowspace as rs
from rowspace.report.html import write_report
from rowspace.sample import REGIONS, people_path


def main(folder: str = "out/all_tables") -> None:
    """Plan, release once, and write what an office would publish."""
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    domain = rs.Domain(
        age=rs.Numeric(0, 100, bins=50, outside="clip"),
        sex=rs.Categorical(["F", "M"]),
        region=rs.Categorical(list(REGIONS), other="unknown"),
        household_size=rs.Numeric(1, 9, bins=8, outside="clip"),
    )
    w = rs.workload
    # The few counts of whole groups matter as much as the thousands of small ones.
    queries = 10 * w.marginals(domain, up_to=1) + w.marginals(domain, exactly=2) + w.ranges(domain, "age")
    plan = rs.plan(queries, rs.PureDP(1.0))
    for group in plan.group_errors():
        print(f"expected: {group.group}, {group.queries:,} queries, standard error {group.rmse:.1f}")

    release = rs.release(plan, people_path())
    release.save(out / "people.release")
    rs.export(release, out / "answers.csv")  # unbiased, with error bars: for statistics
    write_report(release, out / "report.html", title="People")

    whole = release.consistent(integral=True)  # whole and not negative: for print
    rs.export(whole, out / "whole.csv")
    print(whole.effect)
    print(f"written to {out}: people.release, answers.csv, whole.csv, report.html")


if __name__ == "__main__":
    main()
