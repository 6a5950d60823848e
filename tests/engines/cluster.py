"""A Spark cluster of our own on this machine: a standalone master, two workers, a Connect server; each a process."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.engines.availability import kill_all, unavailable

_DEFAULTS = """
spark.ui.enabled false
spark.driver.bindAddress 127.0.0.1
spark.driver.host 127.0.0.1
spark.driver.memory 512m
spark.executor.memory 512m
spark.sql.shuffle.partitions 4
spark.sql.files.maxPartitionBytes 1m
spark.sql.warehouse.dir {folder}/warehouse
"""

_PATIENCE = 300.0


@dataclass
class Cluster:
    """A running cluster. environment: what a process needs to be its driver."""

    url: str
    environment: dict[str, str]
    folder: Path
    workers: list[subprocess.Popen[bytes]]
    start: Callable[..., subprocess.Popen[bytes]]

    def log(self, worker: int) -> str:
        """What the executors of a worker have said so far."""
        found = (self.folder / f"worker-{worker}").glob("*/*/stderr")
        return "".join(path.read_text(errors="replace") for path in found)

    def kill(self, worker: int) -> None:
        """End a worker and its executors as a machine that fails does."""
        kill_all(self.workers[worker].pid)
        self.workers[worker].wait()

    def connect_server(self) -> str:
        """Start a Spark Connect server, on one core of the cluster, and return its address."""
        port = _free_port()
        settings = {
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": port,
        }
        settings |= {"spark.cores.max": 1}
        words = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
        server = "org.apache.spark.sql.connect.service.SparkConnectServer"
        self.start("SparkSubmit", "--master", self.url, "--class", server, *words, "spark-internal")
        _wait(self.folder, "Spark Connect server started", 1)
        return f"sc://127.0.0.1:{port}"


@contextmanager
def spark_cluster() -> Iterator[Cluster]:
    """Start a master and two workers of one core each, and end them. Skips where there is no Spark or Java."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        unavailable("spark", "no Java: install a Java runtime, 17 or newer (Debian: openjdk-17-jre-headless)")
    try:
        import pyspark
    except ImportError:
        unavailable("spark", "no pyspark: pip install 'rowspace[spark]'")
    home, folder = Path(pyspark.__file__).parent, Path(tempfile.mkdtemp(prefix="spark-cluster-"))
    (folder / "spark-defaults.conf").write_text(_DEFAULTS.format(folder=folder))
    environment = {"SPARK_CONF_DIR": str(folder), "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
    started: list[subprocess.Popen[bytes]] = []
    port = _free_port()

    def start(kind: str, *words: str) -> subprocess.Popen[bytes]:
        command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}", *words]
        with (folder / "log").open("ab") as log:
            process = subprocess.Popen(command, env=os.environ | environment, stdout=log, stderr=log)
        started.append(process)
        return process

    try:
        url = f"spark://127.0.0.1:{port}"
        start("master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
        _wait(folder, "I have been elected leader", 1)
        common = ("--host", "127.0.0.1", "--cores", "1", "--memory", "600m", "--webui-port", "0")
        workers = [
            start("worker.Worker", *common, "--work-dir", str(folder / f"worker-{k}"), url) for k in range(2)
        ]
        _wait(folder, "Successfully registered with master", 2)
        yield Cluster(url, environment, folder, workers, start)
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _wait(folder: Path, words: str, times: int) -> None:
    """Wait until the log says it so often."""
    end = time.monotonic() + _PATIENCE
    while (folder / "log").read_text(errors="replace").count(words) < times:
        if time.monotonic() > end:
            unavailable("spark", "the cluster of the tests did not start")
        time.sleep(0.2)
