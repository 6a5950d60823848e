"""A dashboard in SQL: what each ε buys, the answers, synthetic rows to try things on: python examples/dashboard.py"""

import rowspace as rs
from rowspace.planning import whatif
from rowspace.sample import REGIONS, people_path

DASHBOARD = """
    -- name: by region
    SELECT region, COUNT(*) FROM people GROUP BY region;
    -- name: seniors by sex
    SELECT sex, COUNT(*) FROM people WHERE age >= 65 GROUP BY sex;
    -- name: life stages
    SELECT CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' ELSE 'senior' END AS stage, COUNT(*)
    FROM people GROUP BY stage;
"""


def main() -> None:
    """All statements are planned together and share one budget."""
    domain = rs.Domain(
        age=rs.Numeric(0, 100, bins=100, outside="clip"),  # thresholds such as 18 are edges of bins
        sex=rs.Categorical(["F", "M"]),
        region=rs.Categorical(list(REGIONS)),
    )
    plan = rs.plan(rs.workload.sql(domain, DASHBOARD), rs.PureDP(1.0))
    for point in whatif(plan, [0.1, 0.5, 1.0, 2.0]):
        errors = ", ".join(f"{group.group} {group.rmse:.1f}" for group in point.groups)
        print(f"standard errors at ε = {point.epsilon}: {errors}")

    release = rs.release(plan, people_path())
    print(release.answers().head(8).to_string(index=False))
    print(release.ask("SELECT COUNT(*) FROM people WHERE age < 18")[["answer", "std_error"]])
    print(release.synthetic(5, rng=1))


if __name__ == "__main__":
    main()
