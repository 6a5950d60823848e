"""An Airflow DAG that releases a table every month, and may be retried or cleared at any moment without paying twice.

The request id is the DAG's run id: every try of a run, by Airflow or by hand, is the same request to the ledger. Exit
code 75 says that a failure may pass (a ledger that is locked, a server that is away); everything else stays so, and is
not tried again. Airflow 2.9 or newer; ROWSPACE_LEDGER and the study's `url_env` come from the worker's environment.
"""

from __future__ import annotations

import subprocess
from datetime import datetime, timedelta

from airflow.decorators import dag, task
from airflow.exceptions import AirflowException, AirflowFailException

TRANSIENT = 75
FOLDER = "/srv/visits"


def command(run_id: str, day: str) -> list[str]:
    """What a run does: a retry finds the files that an earlier try has written, and leaves them."""
    study, output = f"{FOLDER}/study.toml", f"{FOLDER}/{day}.release"
    plan = f"{FOLDER}/visits.plan"
    return [
        *("rowspace", "release", study, "--plan", plan, "--dataset", "visits", "--request-id", run_id),
        *("-o", output, "--quiet", "--log", "json"),
    ]


@dag(schedule="@monthly", start_date=datetime(2024, 1, 1), catchup=False, max_active_runs=1)
def visits() -> None:
    """One release a month."""

    @task(retries=5, retry_delay=timedelta(minutes=5), retry_exponential_backoff=True)
    def release(run_id: str = "", ds: str = "") -> None:
        ended = subprocess.run(command(run_id, ds), check=False)
        if ended.returncode == TRANSIENT or ended.returncode > 128:
            raise AirflowException("the release may pass the next time")
        if ended.returncode:
            raise AirflowFailException("the release was refused; its log says why")

    release()


visits()
