"""The script of docs/security.md that shows what does not run, typed as it is by a reader."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TITLE = "## What runs when a folder of others is read\n"


def test_the_demonstration_of_a_hostile_folder_shows_what_it_says(root: Path, tmp_path: Path) -> None:
    section = (root / "docs/security.md").read_text().split(TITLE)[1].split("\n## ")[0]
    (script,) = (word.split("\n```")[0] for word in section.split("```shell\n")[1:])
    environment = {
        **os.environ,
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
        "TMPDIR": str(tmp_path),
        "LC_ALL": "C",
    }
    process = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert "error[bare-git-repository] FL751" in process.stderr
    assert process.stderr.count("ls: cannot access 'ran': No such file or directory") == 1
    assert process.stdout.splitlines()[-1] == "ran"
