"""The input that a version of the product is given of a fleet, and what it makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fleet_folder import ROOT
from triton_fleet.findings import CannotRunError
from triton_fleet.product.synthesis import OWN_PYTHON, Installation, settings
from triton_fleet.project.project import Fleet
from triton_fleet.review.environment_side import base_side


@pytest.mark.parametrize("text", ['{"context": {', "[]", "\u00e9"])
def test_a_broken_cdk_json_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "cdk.json").write_text(text, "latin-1")
    with pytest.raises(CannotRunError, match="cdk.json is not a JSON object"):
        settings(tmp_path)


def test_a_version_that_makes_other_stacks_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "fleet_stacks").mkdir()
    (tmp_path / "fleet_stacks/__init__.py").touch()
    (tmp_path / "fleet_stacks/app.py").write_text("def run(root):\n    pass\n")
    other_installation = Installation(
        python=OWN_PYTHON, version="0.0.1", packages={}, context={}, folders=[tmp_path]
    )
    with pytest.raises(CannotRunError, match=r"triton-fleet 0\.0\.1 makes no stack triton-fleet-staging"):
        base_side(Fleet(ROOT), "staging").templates(other_installation, ["resnet50"])
