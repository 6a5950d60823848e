"""From a file to a published table: python examples/publish_a_table.py"""

import rowspace as rs
from rowspace.sample import people_path


def main() -> None:
    """Plan, look at the error, release once, ask more."""
    domain = rs.Domain(
        age=rs.Numeric(0, 100, bins=20, outside="clip"),
        sex=rs.Categorical(["F", "M"]),
    )
    queries = rs.workload.ranges(domain, "age") + 2.0 * rs.workload.marginal(domain, "age", "sex")
    plan = rs.plan(queries, rs.PureDP(epsilon=0.5))
    for group in plan.group_errors():
        print(f"expected: {group.group}, {group.queries} answers, standard error {group.rmse:.1f}")

    release = rs.release(plan, people_path())
    print(release.table("age", "sex").answer.round().tail(3))
    older = release.share("age >= 65")
    print(f"65 and older: {older.value:.1%} ({older.low:.1%} to {older.high:.1%})")


if __name__ == "__main__":
    main()
