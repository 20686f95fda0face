"""An update of the local endpoint loses no call that is under way."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from tests.support.zoo import ENDPOINT, Zoo, times
from triton_fleet.local.triton.runtime import TritonRuntime

pytestmark = [pytest.mark.triton, pytest.mark.nightly]


def write_wait(initial_path: Path, go: Path) -> dict[str, str]:
    """A model that says when a call has begun, and answers when it is told to."""
    os.mkfifo(initial_path)
    os.mkfifo(go)
    files = times(3)
    code = files["times/1/model.py"]
    text = f"    def execute(self, requests):\n        open({str(initial_path)!r}, 'w').close()\n        open({str(go)!r}).close()\n"
    assert "    def execute(self, requests):\n" in code
    return {**files, "times/1/model.py": code.replace("    def execute(self, requests):\n", text)}


class UpdateUnderLoad:
    """An endpoint with a call that the old server has begun, and an update whose new server has taken over."""

    def __init__(self, zoo: Zoo, folder: Path, threads: ThreadPoolExecutor) -> None:
        initial_folder, self.go = folder / "begun", folder / "go"
        zoo.upload("waiting.tar.gz", write_wait(initial_folder, self.go))
        sagemaker, self.old = zoo.client("sagemaker"), zoo.server
        variants = sagemaker.describe_endpoint_config(EndpointConfigName="zoo")["ProductionVariants"]
        sagemaker.create_endpoint_config(EndpointConfigName="next", ProductionVariants=variants)
        self.call = threads.submit(zoo.call, "waiting.tar.gz", 2.0)
        initial_folder.open().close()
        self.update = threads.submit(
            sagemaker.update_endpoint, EndpointName=ENDPOINT, EndpointConfigName="next"
        )
        while zoo.server is self.old:
            assert not self.update.done(), self.update.result()


@pytest.fixture
def zoo(runtime: TritonRuntime, tmp_path: Path) -> Iterator[Zoo]:
    zoo = Zoo(runtime, tmp_path / "zoo")
    zoo.start()
    yield zoo
    zoo.stop()


def test_a_call_that_the_old_server_has_begun_is_answered_by_it_and_the_next_by_the_new_one(
    zoo: Zoo, tmp_path: Path
) -> None:
    with ThreadPoolExecutor(2) as threads:
        update = UpdateUnderLoad(zoo, tmp_path, threads)
        zoo.upload("good.tar.gz", times(5))
        assert zoo.call("good.tar.gz") == 5.0
        update.go.open("w").close()
        assert update.call.result() == 6.0
        update.update.result()
    endpoint = zoo.client("sagemaker").describe_endpoint(EndpointName=ENDPOINT)
    assert endpoint["EndpointConfigName"] == "next"
    assert update.old.process.dead.is_set()


def test_a_host_that_is_closed_does_not_wait_for_such_a_call(zoo: Zoo, tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as threads:
        update = UpdateUnderLoad(zoo, tmp_path, threads)
        zoo.host.close()
        assert update.old.process.dead.is_set()
        with pytest.raises(ClientError, match="ModelError"):
            update.call.result()
        update.update.result()
