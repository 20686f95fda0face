"""Types of the CDK in mypy: it reads the modules that pyproject.toml names, and takes others for anything at all."""

from __future__ import annotations

import ast
import subprocess
import tomllib
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

CDK = "aws_cdk"


def test_mypy_reads_each_module_of_the_cdk_that_the_code_imports_and_its_interfaces(root: Path) -> None:
    imported_names = {
        name for file in _python_files(root) for name in _of_the_cdk(ast.parse(file.read_bytes()))
    }
    assert f"{CDK}.aws_sagemaker" in imported_names
    interfaces = {name.replace(CDK, f"{CDK}.interfaces", 1) for name in imported_names}
    needed_imported_names = imported_names | {name for name in interfaces if _is_module(name)}
    assert needed_imported_names <= _read_by_mypy(root), "name these in pyproject.toml"


def _python_files(root: Path) -> list[Path]:
    process = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=root, capture_output=True, text=True, check=True
    )
    return [root / name for name in process.stdout.splitlines() if (root / name).exists()]


def _of_the_cdk(tree: ast.AST) -> Iterator[str]:
    """The CDK's modules that a file names, be it as an attribute of the package."""
    package = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == CDK:
            names = [f"{node.module}.{name.name}" for name in node.names]
            yield from (name for name in [node.module, *names] if _is_module(name))
        elif isinstance(node, ast.Import):
            actual_names = [name for name in node.names if name.name.split(".")[0] == CDK]
            yield from (actual_name.name for actual_name in actual_names)
            package |= {actual_name.asname or CDK for actual_name in actual_names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in package:
            name = f"{CDK}.{node.attr}"
            if _is_module(name):
                yield name


def _is_module(name: str) -> bool:
    place = Path(str(distribution("aws-cdk-lib").locate_file(""))).joinpath(*name.split("."))
    return place.is_dir() or place.with_suffix(".py").is_file()


def _read_by_mypy(root: Path) -> set[str]:
    settings = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["mypy"]["overrides"]
    (named_module,) = (setting["module"] for setting in settings if setting.get("follow_imports") == "normal")
    return set(named_module)
