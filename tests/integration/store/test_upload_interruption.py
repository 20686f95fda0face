"""A command that is interrupted ends its uploads: nothing half is left in S3."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from tests.support.uploading import LARGE, PLACE, Stream, UploadBucket
from triton_fleet.core.tar_writer import Sink
from triton_fleet.store.upload.archives import Uploads
from triton_fleet.store.upload.object import CancelledError

pytestmark = pytest.mark.nightly

PUBLISHER = """
import os, random, sys, threading
from concurrent.futures import ThreadPoolExecutor, wait
from triton_fleet.store.upload.archives import UPLOAD_CONFIG, ObjectPlace, Uploads
from triton_fleet.awsapi.emulator import Keys, local_session
from triton_fleet.cli.output import end_like_ctrl_c

url, way = sys.argv[1:]
noise, interrupted = random.Random(0).randbytes(1 << 20), threading.Event()
end_like_ctrl_c()
s3 = local_session("us-east-1", Keys("FLEET000000000000000", "of-the-tests")).client("s3", endpoint_url=url, config=UPLOAD_CONFIG)

# A signal may reach Python just before its main thread waits, and is heard when that wakes: so no wait is endless.
def write(sink):
    for _ in range(20):
        sink.write(noise)
    os.write(1, b"in the middle\\n")
    while not interrupted.wait(0.05):
        pass
    for _ in range(20):
        sink.write(noise)

with Uploads(s3) as uploads:
    def work(number):
        place = ObjectPlace("artifacts", f"archives/{number}.tar.gz")
        uploads.archive(place, write, digest="sha256:0", size=40 << 20)

    if way == "by threads":
        with ThreadPoolExecutor(2) as pool:
            under_way = [pool.submit(work, number) for number in range(2)]
            try:
                while wait(under_way, 0.05).not_done:
                    pass
            except BaseException:
                uploads.cancel()
                interrupted.set()
                raise
    else:
        work(0)
"""
SECONDS = 60


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "asked to end"])
@pytest.mark.parametrize("way", ["by threads", "in the main thread"])
def test_an_interrupted_command_leaves_no_object_and_no_upload(
    bucket: UploadBucket, number: signal.Signals, way: str
) -> None:
    command = [sys.executable, "-c", PUBLISHER, bucket.proxy.url, way]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            for _ in range(2 if way == "by threads" else 1):
                assert process.stdout.readline() == "in the middle\n"
            process.send_signal(number)
            _, text = process.communicate(timeout=SECONDS)
        finally:
            process.kill()
    assert process.returncode != 0
    assert "KeyboardInterrupt" in text
    assert bucket.proxy.count(lambda request: request.path.endswith("?uploads")) > 0
    assert bucket.is_empty


def test_uploads_that_are_cancelled_are_aborted(bucket: UploadBucket) -> None:
    stream = Stream(LARGE)
    came, may_go = bucket.proxy.hold(lambda request: request.is_part(1))

    def cancelled_in_the_middle(sink: Sink) -> None:
        stream.write(sink)
        came.wait()
        uploads.cancel()
        may_go.set()
        stream.write(sink)

    with Uploads(bucket.s3) as uploads, pytest.raises(CancelledError):
        uploads.archive(PLACE, cancelled_in_the_middle, digest=stream.digest, size=2 * stream.size)
    assert bucket.is_empty
