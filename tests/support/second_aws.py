"""An embedded AWS in a process of its own, for a second account whose keys are those of the first."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.embedded_keys import KEYS
from tests.support.fleet_folder import ROOT
from triton_fleet.awsapi.emulator import without_aws

ACCOUNT = "210987654321"


@contextmanager
def second_aws(account: str = ACCOUNT) -> Iterator[str]:
    """The URL of an AWS of that account; it ends with its standard input."""
    process = subprocess.Popen(
        [sys.executable, __file__, account],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**without_aws(os.environ), "PYTHONPATH": str(ROOT)},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        url = process.stdout.readline().strip()
        assert url, "the second AWS did not start"
        yield url
    finally:
        process.stdin.close()
        process.wait(30)
        process.stdout.close()


def _run() -> None:
    gc.disable()  # it starts in two thirds of the time
    from fleet_emulator.server import EmbeddedAws
    from tests.support.embedded_app.host import RecordingHost

    aws = EmbeddedAws(RecordingHost(), keys=KEYS, account=sys.argv[1])
    aws.start()
    print(aws.url, flush=True)
    sys.stdin.read()
    aws.stop()


if __name__ == "__main__":
    _run()
