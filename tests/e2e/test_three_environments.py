"""The walk of docs/local.md: three environments of one fleet on this machine, typed from an empty folder."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.support.doc_shell import is_as_shown
from tests.support.doc_walk import type_walk, walk
from tests.support.fleet_folder import ROOT
from tests.support.wheels import build_wheels, install

pytestmark = [pytest.mark.cdk, pytest.mark.triton, pytest.mark.nightly]

SET_UP = f"""\
make() {{
  ln -s "$INSTALLED" .venv
  mkdir node_modules
  for name in .bin @aws-cdk aws-cdk plotly.js-basic-dist-min; do ln -s {ROOT}/node_modules/$name node_modules/$name; done
  touch .venv/.ready node_modules/.ready
  command make --no-print-directory --old-file=.venv/.ready --old-file=node_modules/.ready "$@"
}}
"""
"""Stands in for what `make setup` downloads."""


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Path]:
    """An empty folder; what runs there in the end is ended."""
    folder = tmp_path / "empty"
    folder.mkdir()
    yield folder
    for process in psutil.process_iter(["cmdline"]):
        if str(folder) in " ".join(process.info["cmdline"] or ()):
            process.terminate()
            process.wait(60)


def test_every_command_of_the_walk_does_what_the_page_shows(
    empty: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("installed")
    python = install(build_wheels(folder / "wheel"), folder / "venv")
    settings = {
        "PATH": f"{python.parent}:{Path(sys.executable).parent}:/usr/bin:/bin",
        "INSTALLED": str(python.parent.parent),
        "HOME": str(empty.parent),
        "JSII_RUNTIME_PACKAGE_CACHE_ROOT": str(Path.home() / ".cache/aws/jsii/package-cache"),
        "COLUMNS": "120",
        "CDK_VALIDATION": "false",
        **{
            f"GIT_{text}_{what}": "reader@example.com"
            for text in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        },
    }
    result = list(type_walk(walk(), empty, settings, SET_UP))
    assert len(result) > 40
    wrong = [
        f"{item.command} exited with {item.code}:\n{item.out}" for item in result if not is_as_shown(item)
    ]
    assert not wrong, "\n".join(wrong)
