"""Templates are made by the CDK: without it, a review names the extra that brings it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from triton_fleet.findings import CannotRunError
from triton_fleet.product import extras
from triton_fleet.product.distributions import PACKAGE
from triton_fleet.product.synthesis import installation


def without_extras(distribution: str) -> Sequence[str]:
    if distribution != PACKAGE:
        raise PackageNotFoundError(distribution)
    return ["boto3<2,>=1.44.5; extra == 'deploy'"]


def test_this_python_without_the_app_is_refused_with_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho \"ModuleNotFoundError: No module named 'fleet_stacks'\" >&2\nexit 1\n")
    python.chmod(0o755)
    with pytest.raises(CannotRunError, match="has no triton-fleet to compare"):
        installation(python)
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setattr(extras, "requires", without_extras)
    with pytest.raises(CannotRunError) as caught:
        installation(python)
    assert caught.value.problem == "this command needs boto3, which is not installed"
    assert "triton-fleet[deploy]" in caught.value.remedy
