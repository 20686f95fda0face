"""Packing and uploading take the same memory whatever the archives' size, and no room on disk."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from triton_fleet.store.upload.object import MEMORY, SMALLEST_PART

MAX_BYTES = 300 << 20
ARCHIVES, SIZE = 4, 384 << 20
MOST_PARTS = MEMORY // SMALLEST_PART
PUBLISHER = """
import random, resource, sys
from concurrent.futures import ThreadPoolExecutor
from triton_fleet.store.archive import DigestWriter
from triton_fleet.store.upload.archives import UPLOAD_CONFIG, ObjectPlace, Uploads
from triton_fleet.awsapi.emulator import Keys, local_session
import triton_fleet.cli.publish  # the command's own modules are part of its memory

url, archives, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
noise = random.Random(0).randbytes(1 << 20)

def write(sink):
    for _ in range(size >> 20):
        sink.write(noise)

digest = DigestWriter()
write(digest)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # from here on no file can be written
s3 = local_session("us-east-1", Keys("FLEET000000000000000", "of-the-tests")).client("s3", endpoint_url=url, config=UPLOAD_CONFIG)
with Uploads(s3) as uploads, ThreadPoolExecutor(archives) as pool:
    done = [
        pool.submit(uploads.archive, ObjectPlace("b", str(number)), write, digest=digest.digest, size=size)
        for number in range(archives)
    ]
    assert all(each.result() for each in done)
# Unlike ru_maxrss, this is of the process since it began, and not of the one that forked it.
with open("/proc/self/status") as status:
    print(next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM")))
"""


class DiscardingClient(BaseHTTPRequestHandler):
    """Takes parts and forgets them; the first ones wait until all memory for parts is under way."""

    protocol_version = "HTTP/1.1"
    first: Iterator[int]
    all_under_way: threading.Barrier

    def _answer(self) -> None:
        remaining_number = int(self.headers.get("Content-Length", 0))
        body = b""
        while remaining_number:
            body = self.rfile.read(min(remaining_number, 1 << 20))
            remaining_number -= len(body)
        if self.command == "PUT" and next(self.first, None) is not None:
            self.all_under_way.wait()
        answer = b""
        if self.command == "POST":
            checksum = self.headers.get("x-amz-checksum-crc32", "")
            answer = f"<R><UploadId>u</UploadId><ChecksumCRC32>{checksum}</ChecksumCRC32></R>".encode()
        self.send_response(200)
        self.send_header("ETag", '"e"')
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_PUT = do_POST = do_DELETE = _answer

    def log_message(self, format: str, *args: object) -> None:
        """Be quiet."""


@pytest.fixture
def url() -> Iterator[str]:
    class Handler(DiscardingClient):
        """Of this test."""

        first = iter(range(MOST_PARTS))
        all_under_way = threading.Barrier(MOST_PARTS)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=[0.01])
    thread.start()
    yield f"http://localhost:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.nightly
def test_four_archives_at_one_time_stay_below_300_mib_and_need_no_disk(url: str) -> None:
    command = [sys.executable, "-c", PUBLISHER, url, str(ARCHIVES), str(SIZE)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    assert int(process.stdout) < MAX_BYTES
