"""Which triton-fleet a Python has, and with which settings it would synthesise."""

from __future__ import annotations

import json
import sys
import venv
from pathlib import Path

import pytest

import triton_fleet
from tests.support.fleet_folder import ROOT
from triton_fleet.findings import CannotRunError
from triton_fleet.product.synthesis import (
    Installation,
    installation,
    isolate,
    require_distinct,
    upgraded_context,
)


def of(folder: str, **context: object) -> Installation:
    names = ("triton_fleet", "fleet_stacks")
    packages = {name: Path(folder, name, "__init__.py") for name in names}
    return Installation(python=Path(folder, "python"), version="1", packages=packages, context=context)


def test_the_python_of_the_tests_has_this_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "triton_fleet").mkdir()
    (tmp_path / "triton_fleet/__init__.py").write_text("raise SystemExit(3)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    actual_installation = installation(Path(sys.executable))
    assert actual_installation.packages["triton_fleet"] == Path(str(triton_fleet.__file__)).resolve()
    assert actual_installation.context == json.loads((ROOT / "cdk.json").read_text())["context"]
    assert str(actual_installation) == f"{actual_installation.version} ({ROOT / 'triton_fleet'})"


def test_a_python_without_triton_fleet_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    venv.create(tmp_path / "venv", with_pip=False)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(ROOT)
    with pytest.raises(CannotRunError, match="No module named 'triton_fleet'"):
        installation(tmp_path / "venv/bin/python")


def test_two_pythons_of_one_package_are_refused() -> None:
    require_distinct(of("/a"), of("/b"))
    shared_installation = of("/b")
    installation = Installation(
        python=shared_installation.python,
        version="1",
        packages={**shared_installation.packages, "fleet_stacks": of("/a").packages["fleet_stacks"]},
        context={},
    )
    with pytest.raises(CannotRunError, match="imports fleet_stacks from /a/fleet_stacks"):
        require_distinct(of("/a"), installation)


def test_no_variable_gives_a_python_the_packages_of_another() -> None:
    assert isolate({"PYTHONPATH": "a", "PYTHONHOME": "b", "HOME": "c"}) == {"HOME": "c"}


def test_an_upgrade_brings_the_settings_of_the_other_version_and_keeps_the_owners() -> None:
    installation, other_installation = (
        of("/a", kept=1, changed=1, dropped=1),
        of("/b", kept=1, changed=2, added=2),
    )
    context = {"kept": 1, "changed": 1, "dropped": 1, "owner": 3}
    assert upgraded_context(context, installation, other_installation) == {
        "kept": 1,
        "changed": 2,
        "added": 2,
        "owner": 3,
    }
