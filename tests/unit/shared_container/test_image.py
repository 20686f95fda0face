"""The image of the shared container: what the product's own checks find in it, and what it is built from."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.support.image_builds import image_findings, short_rows
from tests.support.shared_containers import SOURCE

DOCKERFILE = (SOURCE / "Dockerfile").read_text()
PACKAGE = SOURCE / "shared_container"
OLDEST_PYTHON = (3, 10)


def test_the_checks_find_only_that_it_starts_triton_itself() -> None:
    (finding,) = image_findings(SOURCE)
    assert short_rows([finding])[0][::2] == ("FL934", "warning")
    assert finding.message.startswith("ENTRYPOINT replaces the one that starts Triton")


def test_it_is_based_on_the_image_of_the_release() -> None:
    assert re.findall(r"^FROM .*", DOCKERFILE, re.MULTILINE) == ["FROM ${TRITON_IMAGE}"]


def test_nginx_and_njs_are_pinned_and_of_one_version() -> None:
    nginx, njs = re.findall(r"^ARG N\w+_VERSION=(\S+)", DOCKERFILE, re.MULTILINE)
    assert re.fullmatch(r"\d+\.\d+\.\d+-\d+", nginx)
    assert re.fullmatch(rf"{nginx.partition('-')[0]}\+\d+\.\d+\.\d+-\d+", njs)


def test_keys_are_known_by_their_whole_fingerprint() -> None:
    (keys,) = re.findall(r'^ARG NGINX_KEYS="(.*)"', DOCKERFILE, re.MULTILINE)
    assert all(re.fullmatch("[0-9A-F]{40}", key) for key in keys.split())


@pytest.mark.parametrize("file", sorted(PACKAGE.glob("*.py")), ids=lambda file: file.name)
def test_the_program_is_read_by_the_oldest_python_of_an_image(file: Path) -> None:
    ast.parse(file.read_text(), feature_version=OLDEST_PYTHON)


def test_scripts_have_no_more_lines_than_a_file_of_python() -> None:
    assert all(len(file.read_text().splitlines()) <= 300 for file in PACKAGE.glob("*.js"))
