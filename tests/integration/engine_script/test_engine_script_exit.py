"""However a build ends, it is said how: nothing that goes wrong while it is said hides it."""

from __future__ import annotations

import errno
import os
import signal
import sys
from pathlib import Path

import pytest

from engine_request.bucket import Bucket
from engine_request.problems import WRONG_GPU, BuildError
from engine_request.request import EngineRequest as ScriptRequest
from engine_request.run import Client, Work, run_request
from tests.support.engine_builds import EngineStore
from triton_fleet.builds.engines.request import EngineRequest


def fails(error: Exception) -> Work[ScriptRequest]:
    def work(request: ScriptRequest, bucket: Bucket, client: Client) -> None:
        raise error

    return work


def job_status(store: EngineStore, request: EngineRequest, work: Work[ScriptRequest]) -> int:
    return run_request(store.address(request), ScriptRequest.of, work)


def test_a_signal_while_the_failure_is_told_does_not_break_that_off(store: EngineStore) -> None:
    def work(request: ScriptRequest, bucket: Bucket, client: Client) -> None:
        bucket.s3.meta.events.register(
            "before-call.s3.PutObject", lambda **_: os.kill(os.getpid(), signal.SIGTERM)
        )
        raise BuildError(WRONG_GPU, "it is another one")

    request = store.request()
    assert job_status(store, request, work) == 11
    assert store.json(request.failure)["problem"] == "wrong GPU"


def test_a_job_whose_status_cannot_be_written_leaves_its_failure_all_the_same(
    store: EngineStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "output").write_text("a file, and no folder", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "processing/input/engine/script.zip")])
    request = store.request()
    assert job_status(store, request, fails(BuildError(WRONG_GPU, "it is another one"))) == 11
    assert store.json(request.failure)["message"] == "it is another one"
    assert "the job's status could not be written" in capsys.readouterr().err


def test_a_job_says_why_where_its_status_takes_it_from(
    store: EngineStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "input/data/engine/script.zip")])
    assert job_status(store, store.request(), fails(BuildError(WRONG_GPU, "é" * 2000))) == 11
    for name in ("message", "failure"):
        text = (tmp_path / "output" / name).read_text(encoding="utf-8")
        assert text.startswith("wrong GPU: é") and len(text) == 1000


def test_a_full_disk_is_told_with_what_helps(store: EngineStore) -> None:
    request = store.request()
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/tmp/model.onnx")
    assert job_status(store, request, fails(full)) == 18
    values = store.json(request.failure)
    assert "No space left on device" in values["message"]
    assert values["remedy"] == "build on an instance with a larger disk"
