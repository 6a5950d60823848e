"""Requests made from the OpenAPI document (`make test-api`): none makes the service fail."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

if not os.environ.get("ROWSPACE_API"):
    pytest.skip("make test-api runs these", allow_module_level=True)

import subprocess
import sys

from benchmarks.serve import Service

from .conftest import laid_out


def test_no_request_fails(tmp_path: Path) -> None:
    place = laid_out(tmp_path)
    with Service(tmp_path) as service:
        command = [
            str(Path(sys.executable).with_name("schemathesis")),
            "run",
            f"http://127.0.0.1:{service.port}/openapi.json",
        ]
        command += ["--checks", "not_a_server_error,status_code_conformance,content_type_conformance"]
        command += [
            "--checks",
            "response_schema_conformance",
            "--max-examples",
            os.environ.get("ROWSPACE_API", "100"),
        ]
        command += [
            "-H",
            f"Authorization: Bearer {place.ann}",
            "--suppress-health-check",
            "all",
            "--no-color",
        ]
        ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert ended.returncode == 0, ended.stdout[-6000:] + ended.stderr[-2000:]
