"""README.md: its length, and what it shows of files and messages."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.support.fleet_folder import ROOT
from triton_fleet.cli.commands import app
from triton_fleet.project.fleet_files import SYNTHESIS_INPUTS

TEXT = (ROOT / "README.md").read_text()


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The shipped fleet without its model repositories."""
    for root in (ROOT / part for part in SYNTHESIS_INPUTS):
        if root.is_dir():
            shutil.copytree(root, tmp_path / root.name)
        elif root.is_file():
            shutil.copy(root, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def readme_blocks(language: str) -> str:
    """The first block of a language."""
    match = re.search(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)
    assert match is not None
    return match[1]


def check_output(*words: str) -> str:
    return CliRunner().invoke(app, ["check", *words, "--locked"], env={"COLUMNS": "110"}).output


def test_it_has_at_most_1300_words() -> None:
    assert len(TEXT.split()) <= 1300


def test_its_minimal_spec_is_a_spec_without_mistakes(top: Path) -> None:
    (top / "model_specs/resnet50.yaml").write_text(readme_blocks("yaml"))
    assert "no findings in resnet50" in check_output("--env", "dev", "resnet50")


def test_its_mistake_is_found_as_shown(top: Path) -> None:
    spec = top / "model_specs/sentence-embeddings.yaml"
    mistake = readme_blocks("text").splitlines()[1].partition("| ")[2]
    text = spec.read_text().replace('triton: "25.04"', 'triton: "25.09"')
    spec.write_text(re.sub("(?m)^instance: .*", mistake, text))
    assert readme_blocks("text") in check_output("--env", "staging", "sentence-embeddings")
