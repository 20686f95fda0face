"""Builds what a release publishes and checks it; nothing is published here.

`python .ci/release.py --into DIR [--tag v1.2.3]` builds the wheel of each distribution, and one archive of
the sources of all. Each file is built twice and must have the same bytes; all versions must be the same, and
with a tag, that of the tag, with its section in CHANGELOG.md. Exits with 1 where something does not fit.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DISTRIBUTIONS = (ROOT, *(file.parent for file in sorted(ROOT.glob("*/pyproject.toml"))))


def main() -> int:
    """Build, check, and list the files with their digests."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument(
        "--into", type=Path, required=True, help="folder of the files, which must not exist yet"
    )
    parser.add_argument("--tag", help="the tag that is released, such as v1.2.3; left out: a trial")
    arguments = parser.parse_args()
    versions = dict(_project(project_version) for project_version in DISTRIBUTIONS)
    version = versions["triton-fleet"]
    problems = [*_tag_problems(arguments.tag, version)] if arguments.tag else []
    problems += [
        f"{name} has the version {project_version}, and triton-fleet {version}"
        for name, project_version in versions.items()
        if project_version != version
    ]
    if arguments.into.exists():
        problems.append(f"{arguments.into} exists already")
    if not problems:
        problems = [*_build_problems(arguments.into, versions)]
    for problem in problems:
        print(f"release: {problem}", file=sys.stderr)
    if not problems:
        for file in sorted(arguments.into.iterdir()):
            print(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}")
    return 1 if problems else 0


def _project(folder: Path) -> tuple[str, str]:
    """The name and the version of a distribution."""
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    return str(project["name"]), str(project["version"])


def _tag_problems(tag: str, version: str) -> list[str]:
    problems = []
    if tag != f"v{version}":
        problems.append(f"the tag is {tag}, and pyproject.toml has the version {version}")
    if f"\n## {version} " not in (ROOT / "CHANGELOG.md").read_text():
        problems.append(f"CHANGELOG.md has no section `## {version} - DATE`")
    return problems


def _build_problems(folder: Path, versions: Mapping[str, str]) -> list[str]:
    stems = [f"{name.replace('-', '_')}-{version}" for name, version in versions.items()]
    names = {
        f"triton_fleet-{versions['triton-fleet']}.tar.gz",
        *(f"{stem}-py3-none-any.whl" for stem in stems),
    }
    _build(folder)
    with tempfile.TemporaryDirectory() as name:
        second_build = Path(name) / "again"
        _build(second_build)
        contents = {file.name: file.read_bytes() for file in folder.iterdir()}
        problems = [f"{file_name} was not built" for file_name in sorted(names - contents.keys())]
        problems += [
            f"{file_name} has other bytes when it is built again"
            for file_name, content in sorted(contents.items())
            if (second_build / file_name).read_bytes() != content
        ]
    for file in () if problems else sorted(folder.glob("*.whl")):
        with zipfile.ZipFile(file) as wheel:
            if damage := wheel.testzip():
                problems.append(f"{damage} is broken in {file.name}")
    return problems


def _build(folder: Path) -> None:
    """Build all wheels, and the one archive: that of the top has the sources of all."""
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder.absolute())]
    for distribution in DISTRIBUTIONS:
        targets = [] if distribution == ROOT else ["--target", "wheel"]
        process = subprocess.run(
            [*command, *targets], cwd=distribution, check=False, capture_output=True, text=True
        )
        if process.returncode:
            lines = (process.stderr or process.stdout).strip().splitlines()
            reason = lines[-1] if lines else process.returncode
            sys.exit(f"release: hatchling builds nothing of {distribution.name}: {reason}")


if __name__ == "__main__":
    sys.exit(main())
