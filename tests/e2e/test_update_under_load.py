"""An update of the local endpoint loses no call that is under way."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fleet.local.triton.runtime import TritonRuntime
from zoo import ENDPOINT, Zoo, times

pytestmark = pytest.mark.triton


def waiting(begun: Path, go: Path) -> dict[str, str]:
    """A model that says when a call has begun, and answers when it is told to."""
    os.mkfifo(begun)
    os.mkfifo(go)
    files = times(3)
    code = files["times/1/model.py"]
    told = f"    def execute(self, requests):\n        open({str(begun)!r}, 'w').close()\n        open({str(go)!r}).close()\n"
    assert "    def execute(self, requests):\n" in code
    return {**files, "times/1/model.py": code.replace("    def execute(self, requests):\n", told)}


def test_a_call_that_the_old_server_has_begun_is_answered_by_it_and_the_next_by_the_new_one(
    runtime: TritonRuntime, tmp_path: Path
) -> None:
    zoo = Zoo(runtime, tmp_path / "zoo")
    zoo.start()
    try:
        begun, go = tmp_path / "begun", tmp_path / "go"
        zoo.upload("waiting.tar.gz", waiting(begun, go))
        zoo.upload("good.tar.gz", times(5))
        sagemaker, old = zoo.client("sagemaker"), zoo.server
        variants = sagemaker.describe_endpoint_config(EndpointConfigName="zoo")["ProductionVariants"]
        sagemaker.create_endpoint_config(EndpointConfigName="next", ProductionVariants=variants)

        with ThreadPoolExecutor(2) as threads:
            call = threads.submit(zoo.call, "waiting.tar.gz", 2.0)
            begun.open().close()
            update = threads.submit(
                sagemaker.update_endpoint, EndpointName=ENDPOINT, EndpointConfigName="next"
            )
            while zoo.server is old:
                assert not update.done(), update.result()
            assert zoo.call("good.tar.gz") == 5.0
            go.open("w").close()
            assert call.result() == 6.0
            update.result()

        assert sagemaker.describe_endpoint(EndpointName=ENDPOINT)["EndpointConfigName"] == "next"
        assert old.process.dead.is_set()
    finally:
        zoo.stop()
