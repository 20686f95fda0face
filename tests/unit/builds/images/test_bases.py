"""An image is based on Triton of the spec's release, and on nothing that may move unseen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.image_builds import DIGEST, START, TRITON, image_findings, image_folder, short_rows

NVIDIA = "nvcr.io/nvidia/tritonserver"


def finding_rows(tmp_path: Path, text: str, release: str = "25.04") -> list[tuple[str, int | None, str]]:
    return short_rows(image_findings(image_folder(tmp_path, text), release=release))


def test_the_image_of_the_release_is_taken(tmp_path: Path) -> None:
    assert finding_rows(tmp_path, START) == []


@pytest.mark.parametrize(
    "base",
    [
        f"{NVIDIA}:25.04-py3@{DIGEST}",
        f"{NVIDIA}:25.04-vllm-python-py3@{DIGEST}",
        f"{NVIDIA}@{DIGEST}",
        f"{TRITON}@{DIGEST}",
        f"{TRITON}-cpu@{DIGEST}",
        f"sagemaker-tritonserver:25.04-py3@{DIGEST}",
    ],
)
def test_a_known_image_of_triton_with_its_digest_is_taken(tmp_path: Path, base: str) -> None:
    assert finding_rows(tmp_path, f"FROM {base}\n") == []


@pytest.mark.parametrize(
    "base",
    [
        "ubuntu:24.04",
        "scratch",
        f"{NVIDIA}:25.04-py3-sdk",
        f"{NVIDIA}:25.04-py3-min",
        "nvcr.io/nvidia/pytorch:25.04-py3",
        f"evil.example/{NVIDIA}:25.04-py3",
        "evil.example/tritonserver:25.04-py3",
    ],
)
def test_an_image_without_triton_is_an_error(tmp_path: Path, base: str) -> None:
    assert ("FL924", 1, "error") in finding_rows(tmp_path, f"FROM {base}\n")


def test_an_image_onto_which_a_server_is_copied_is_a_warning(tmp_path: Path) -> None:
    text = (
        f"FROM {NVIDIA}:25.04-py3@{DIGEST} AS full\nFROM {NVIDIA}:25.04-py3-min@{DIGEST}\n"
        "COPY --from=full /opt/tritonserver/bin /opt/tritonserver/bin\n"
    )
    assert finding_rows(tmp_path, text) == [("FL924", 2, "warning")]


def test_the_message_names_the_image_and_the_hint_what_to_write(tmp_path: Path) -> None:
    first, *_ = image_findings(image_folder(tmp_path, "FROM ubuntu:24.04\n"))
    assert first.message == "the image is based on 'ubuntu:24.04', which is not a known image of Triton"
    assert first.hint == "write `ARG TRITON_IMAGE` above the first FROM, and `FROM ${TRITON_IMAGE}`"
    assert first.file == tmp_path / "Dockerfile"


@pytest.mark.parametrize("tag", ["24.10-py3", "latest"])
def test_another_release_than_the_one_of_the_spec_is_an_error(tmp_path: Path, tag: str) -> None:
    assert finding_rows(tmp_path, f"FROM {NVIDIA}:{tag}\n") == [
        ("FL925", 1, "error"),
        ("FL926", 1, "warning"),
    ]


def test_another_release_is_the_remedy_too(tmp_path: Path) -> None:
    first, *_ = image_findings(image_folder(tmp_path, f"FROM {NVIDIA}:24.10-py3\n"))
    assert 'set `triton: "24.10"` in the spec' in first.hint


def test_the_base_of_the_last_stage_counts_through_other_stages(tmp_path: Path) -> None:
    text = f"ARG TRITON_IMAGE\nFROM golang@{DIGEST} AS tool\nFROM ${{TRITON_IMAGE}} AS base\nFROM base\n"
    assert finding_rows(tmp_path, text) == []
    assert finding_rows(tmp_path, f"{text}FROM tool\n") == [("FL924", 2, "error")]


def test_an_image_without_a_digest_is_a_warning_in_every_stage(tmp_path: Path) -> None:
    text = f"ARG TRITON_IMAGE\nFROM golang:1.26 AS tool\nFROM scratch AS none\n{START.splitlines()[1]}\n"
    copies = "COPY --from=alpine:3 a b\nRUN --mount=type=bind,from=busybox:1,target=/x ls\n"
    assert finding_rows(tmp_path, text + copies) == [
        (code, line, "warning") for code, line in (("FL926", 2), ("FL926", 5), ("FL926", 6))
    ]


def test_the_image_of_the_release_needs_none(tmp_path: Path) -> None:
    assert finding_rows(tmp_path, f"{START}COPY --from={TRITON} a b\n") == []


def test_a_base_of_an_argument_that_is_not_declared_is_an_error(tmp_path: Path) -> None:
    (finding,) = image_findings(image_folder(tmp_path, "FROM ${TRITON_IMAGE}\nARG TRITON_IMAGE\n"))
    assert (finding.code, finding.line) == ("FL921", 1)
    assert finding.message == (
        "FROM '${TRITON_IMAGE}' cannot be built: TRITON_IMAGE has no value before the first FROM"
    )


@pytest.mark.parametrize("platform", ["linux/arm64", "windows/amd64", "arm64"])
def test_another_platform_is_an_error(tmp_path: Path, platform: str) -> None:
    text = START.replace("FROM", f"FROM --platform={platform}")
    assert finding_rows(tmp_path, text) == [("FL927", 2, "error")]


def test_another_platform_below_the_last_stage_is_an_error(tmp_path: Path) -> None:
    text = START.replace("FROM ${TRITON_IMAGE}", "FROM --platform=linux/arm64 ${TRITON_IMAGE} AS base")
    assert finding_rows(tmp_path, f"{text}FROM base\n") == [("FL927", 2, "error")]


def test_another_platform_of_a_stage_whose_files_are_copied_is_a_warning(tmp_path: Path) -> None:
    above = f"ARG TRITON_IMAGE\nFROM --platform=linux/arm64 alpine@{DIGEST} AS data\n"
    text = f"{above}FROM ${{TRITON_IMAGE}}\nCOPY --from=data /etc/passwd /x\n"
    (finding,) = image_findings(image_folder(tmp_path, text))
    assert (finding.code, finding.line, finding.severity) == ("FL927", 2, "warning")
    assert finding.message == (
        "the stage is for 'linux/arm64': copy data from it, as its programs do not run on linux/amd64"
    )


@pytest.mark.parametrize("platform", ["linux/amd64", "$BUILDPLATFORM", "${TARGETPLATFORM}"])
def test_the_platform_of_the_instances_is_taken(tmp_path: Path, platform: str) -> None:
    assert finding_rows(tmp_path, START.replace("FROM", f"FROM --platform={platform}")) == []
