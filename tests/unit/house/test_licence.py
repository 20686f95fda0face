"""LICENSE and NOTICE are part of each distribution, and NOTICE names what exists."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata

import pytest

from tests.support.fleet_folder import ROOT

NOTICE = (ROOT / "NOTICE").read_text()
HEADS = re.findall(r"^(\S+)$(?=\n(?: {4}|\S+\n))", NOTICE, re.MULTILINE)
PATHS = [head for head in HEADS if "/" in head]
PACKAGES = [head for head in HEADS if re.fullmatch(r"[a-z0-9-]+", head)]


def licence_of(package: str) -> str:
    about = metadata.metadata(package)
    fields = ("License", "License-Expression", "Classifier")
    return " ".join(value for field in fields for value in about.get_all(field, []))


def test_notice_names_files_and_packages() -> None:
    assert "triton_fleet/catalog/data/images.json" in PATHS
    assert "onnx" in PACKAGES


@pytest.mark.parametrize("path", PATHS)
def test_a_path_in_notice_exists(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_in_notice_is_pinned(package: str) -> None:
    locks = "".join(file.read_text() for file in ROOT.glob("requirements*.txt"))
    assert re.search(rf"^{package}==", locks, re.MULTILINE)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_in_notice_has_the_licence_that_notice_gives(package: str) -> None:
    entry = re.search(rf"^{package}\n((?: {{4}}.+\n)+)", NOTICE, re.MULTILINE)
    assert entry is not None
    texts = {"Apache-2.0", "MIT"} & set(re.findall(r"[\w.-]+\w", entry[1]))
    licence = licence_of(package)
    assert any(name.removesuffix("-2.0") in licence for name in texts)


def test_the_distribution_states_its_licence_and_contains_both_files() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["license"] == "Apache-2.0"
    assert project["license-files"] == ["LICENSE", "NOTICE"]
    assert all((ROOT / file).is_file() for file in project["license-files"])
