"""A clone is known by its folder of deploys, and a copy of it is another clone."""

from __future__ import annotations

import shutil
from pathlib import Path

from triton_fleet.aws.deploy.deploy_folder import DeployFolder


def token(root: Path) -> str:
    with DeployFolder(root, "dev").lock() as result:
        return result


def test_each_deploy_of_a_clone_has_its_token_and_a_copy_of_the_clone_has_another(tmp_path: Path) -> None:
    first, other_folder = tmp_path / "first", tmp_path / "other"
    first.mkdir()
    mine = token(first)
    assert token(first) == mine
    shutil.copytree(first, other_folder)
    assert token(other_folder) != mine
    assert token(first) == mine
