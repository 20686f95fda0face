"""A tar stream is packed as plain gzip, the same bytes each time, with its digest on the way."""

from __future__ import annotations

import gzip
import hashlib
import io
import random
import subprocess
from collections.abc import Callable

import pytest

from triton_fleet.core.tar_writer import Sink
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.store.archive import MAX_UNTHREADED_BYTES, pack

MIB = 1 << 20
NOISE = random.Random(0).randbytes(MIB)


def stream(size: int) -> Callable[[Sink], None]:
    """So many bytes, a MiB at a time."""

    def write(sink: Sink) -> None:
        for start in range(0, size, MIB):
            sink.write(NOISE[: min(MIB, size - start)])

    return write


def pack_size(size: int) -> bytes:
    archive = io.BytesIO()
    pack(stream(size), archive, size)
    return archive.getvalue()


@pytest.mark.parametrize(
    "size", [0, 1, MIB - 1, MAX_UNTHREADED_BYTES, MAX_UNTHREADED_BYTES + 1, 12 * MIB + 5]
)
def test_what_is_unpacked_has_the_size_and_the_digest_that_were_told(size: int) -> None:
    archive = io.BytesIO()
    writer = pack(stream(size), archive, size)
    content = gzip.decompress(archive.getvalue())
    assert (writer.size, writer.digest) == (size, f"sha256:{hashlib.sha256(content).hexdigest()}")
    assert len(content) == size


@pytest.mark.parametrize("size", [MAX_UNTHREADED_BYTES, 12 * MIB])
def test_gzip_itself_finds_nothing_wrong_with_it(size: int) -> None:
    assert subprocess.run(["gzip", "--test"], input=pack_size(size), check=False).returncode == 0


@pytest.mark.parametrize("size", [MAX_UNTHREADED_BYTES, 12 * MIB + 5])
def test_the_same_stream_gives_the_same_bytes_without_name_or_time(size: int) -> None:
    first = pack_size(size)
    assert first == pack_size(size)
    assert first[3:8] == bytes(5)  # no flags, so no name; no time


def test_a_stream_that_breaks_off_leaves_no_end_and_its_reason_is_told() -> None:
    archive = io.BytesIO()

    def broken_stream(sink: Sink) -> None:
        stream(8 * MIB)(sink)
        raise FindingsError([Finding(code="FL305", message="the file changed while it was read")])

    with pytest.raises(FindingsError, match="FL305"):
        pack(broken_stream, archive, 12 * MIB)
    with pytest.raises(EOFError):
        gzip.decompress(archive.getvalue())


def test_a_sink_that_is_full_ends_it_with_its_own_error() -> None:
    class Full:
        def write(self, data: bytes) -> None:
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        pack(stream(12 * MIB), Full(), 12 * MIB)
