"""A TensorRT plan tells by its first bytes which TensorRT built it; whatever else lies there tells nothing."""

from __future__ import annotations

import struct

import pytest

from triton_fleet.repository.plan import HEADER, plan_version

TAG = 0x74727466


def header(version: bytes = bytes([10, 9, 0, 34]), *, tag: int = TAG, number: int = 0) -> bytes:
    """The first bytes of a plan: tag, number of the format, sixteen bytes that are not read, the version."""
    return struct.pack("<II16s4s", tag, number, b"\xab" * 16, version)


@pytest.mark.parametrize(
    ("version", "message"),
    [((10, 9, 0, 34), "10.9.0.34"), ((8, 6, 1, 6), "8.6.1.6"), ((10, 255, 128, 0), "10.255.128.0")],
)
def test_the_version_of_a_plan_is_four_numbers(version: tuple[int, ...], message: str) -> None:
    assert plan_version(header(bytes(version))) == message


def test_the_header_is_28_bytes_and_what_follows_does_not_matter() -> None:
    assert len(header()) == HEADER
    assert plan_version(header() + b"\xff" * 100) == "10.9.0.34"


@pytest.mark.parametrize("length", [0, 4, 24, 27])
def test_a_plan_that_is_cut_off_has_no_known_version(length: int) -> None:
    assert plan_version(header()[:length]) == ""


def test_another_file_has_no_known_version() -> None:
    assert plan_version(header(tag=TAG + 1)) == ""
    assert plan_version(struct.pack(">I", TAG) + header()[4:]) == ""


def test_another_format_has_no_known_version() -> None:
    assert plan_version(header(number=1)) == ""
