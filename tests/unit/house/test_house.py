"""The house itself: folders that are traps, long files, imports that run one way, files that are generated."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import constructs
import pytest

from triton_fleet.cli.schema import generated_files

MAX_LINES = 400
"""Of a Python file that tells one thought; 110 to 200 are usual."""


@pytest.mark.parametrize("folder", ["client", "constructs", "emulator", "lambda", "stacks"])
def test_a_source_root_is_no_package(root: Path, folder: str) -> None:
    package = root / folder / "__init__.py"
    assert not package.exists(), f"remove {package}: {folder}/README.md says why"


def test_no_folder_of_tests_is_a_package(root: Path) -> None:
    assert list((root / "tests").rglob("__init__.py")) == []


@pytest.mark.parametrize(
    ("package", "folder"),
    [
        ("triton_fleet", "."),
        ("fleet_client", "client"),
        ("fleet_emulator", "emulator"),
        ("fleet_stacks", "stacks"),
        ("triton_endpoints", "constructs"),
    ],
)
def test_a_package_is_imported_from_its_folder_and_not_from_a_copy(
    root: Path, package: str, folder: str
) -> None:
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin == str((root / folder / package / "__init__.py").resolve())


def test_constructs_is_the_package_from_pypi() -> None:
    assert "site-packages" in str(constructs.__file__)


def test_no_python_file_has_more_than_400_lines(root: Path) -> None:
    process = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=root, capture_output=True, text=True, check=True
    )
    files = [root / name for name in process.stdout.splitlines() if (root / name).exists()]
    assert files
    lengths = {file.relative_to(root).as_posix(): len(file.read_text().splitlines()) for file in files}
    too_long = {name: length for name, length in lengths.items() if length > MAX_LINES}
    assert too_long == {}, "split these by subject"


def test_the_generated_files_are_what_the_code_says(root: Path) -> None:
    assert {"rules.md", "endpoint.schema.json"} <= {file.name for file in generated_files(root)}
    for file, text in generated_files(root).items():
        assert file.read_text() == text, f"{file.name} is stale: run `fleet schema`"


def test_every_yaml_file_names_its_schema(root: Path) -> None:
    schemas = {
        "model_specs": "./endpoint",
        "profiles": "../model_specs/partial",
        "environments": "./environment",
    }
    for folder, schema in schemas.items():
        for file in root.glob(f"{folder}/*.yaml"):
            own = "./partial" if file.name == "_folder.yaml" else schema
            assert file.read_text().startswith(f"# yaml-language-server: $schema={own}.schema.json\n")


def test_imports_run_one_way(root: Path) -> None:
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    variables = {**os.environ, "PYTHONPATH": "client:constructs:emulator"}
    process = subprocess.run(command, cwd=root, env=variables, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout


@pytest.mark.parametrize(
    "file",
    [
        "requirements.txt",
        "requirements-alpha.txt",
        "requirements-dev.txt",
        "requirements-audit.txt",
        "requirements-catalog.txt",
        "requirements-checkov.txt",
        "requirements-docs.txt",
        "requirements-local.txt",
        "requirements-payload.txt",
        "requirements-release.txt",
        "requirements-triton.txt",
    ],
)
def test_every_requirement_is_pinned_with_hashes(root: Path, file: str) -> None:
    words = (root / file).read_text().split("\n")
    names = [index for index, line in enumerate(words) if line and line[0].isalnum()]
    assert names
    assert all("==" in words[index] and "--hash=sha256:" in words[index + 1] for index in names)


def test_make_installs_by_hash_and_runs_no_script_of_a_package(root: Path) -> None:
    """The clone itself is the one exception: it has no hash, and no dependency of it is installed with it."""
    makefile = (root / "Makefile").read_text().replace("\\\n", " ")
    installs = re.findall(r"\$\(call INSTALL,[\w.-]+,(.*)\)|-m pip .*? install\s+(--req.*)", makefile)
    options = [first or second for first, second in installs]
    assert len(options) == 10
    unhashed_options = [option for option in options if not option.startswith("--require-hashes ")]
    assert unhashed_options == ["--no-deps --no-build-isolation $(DISTRIBUTIONS:%=--editable %)"]
    assert re.findall(r"npm (?:ci|install).*", makefile) == ["npm ci --ignore-scripts --silent"]


def test_nothing_names_this_product_as_if_an_index_had_it(root: Path) -> None:
    """The name is free there: what asks an index for it runs the code of whoever registers it.

    The parts pin each other by name: what installs them names a file, a folder or a commit of each.
    """
    output = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True).stdout
    names = [name for name in output.decode().split("\0") if name and (root / name).is_file()]
    said_texts = (
        "CHANGELOG.md",
        "docs/decisions/",
        "tests/",
        "constructs/pyproject.toml",
        "emulator/pyproject.toml",
    )
    requested_pattern = re.compile(
        r"(pip|pipx|uv tool|uv) (install|download)[^`\n]*\btriton[-_]fleet(?!-\d|_fleet|[\w.-]*\.whl)(?!\S* @)"
        r"|triton-fleet(\[\w+\])?[=<>~]=|pypi\.org/project/triton-fleet",
    )
    texts = {name: (root / name).read_bytes() for name in names if not name.startswith(said_texts)}
    assert len(texts) > 500
    assert [
        name for name, text in texts.items() if requested_pattern.search(text.decode("utf-8", "replace"))
    ] == []


def test_no_lock_file_names_where_packages_come_from(root: Path) -> None:
    assert [file.name for file in root.glob("requirements*.txt") if "://" in file.read_text()] == []
    packages = json.loads((root / "package-lock.json").read_text())["packages"]
    assert [name for name, package in packages.items() if "resolved" in package] == []


def test_every_npm_package_is_pinned_with_its_hash(root: Path) -> None:
    manifest = json.loads((root / "package.json").read_text())
    assert all(version[0].isdigit() for version in manifest["devDependencies"].values())
    packages = json.loads((root / "package-lock.json").read_text())["packages"]
    names = [
        name
        for name, package in packages.items()
        if name and not package.get("inBundle") and not package.get("integrity", "").startswith("sha512-")
    ]
    assert names == []
