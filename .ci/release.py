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
    versions = dict(_project(each) for each in DISTRIBUTIONS)
    version = versions["triton-fleet"]
    problems = [*_tag_problems(arguments.tag, version)] if arguments.tag else []
    problems += [
        f"{name} has the version {each}, and triton-fleet {version}"
        for name, each in versions.items()
        if each != version
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
        again = Path(name) / "again"
        _build(again)
        built = {file.name: file.read_bytes() for file in folder.iterdir()}
        problems = [f"{each} was not built" for each in sorted(names - built.keys())]
        problems += [
            f"{each} has other bytes when it is built again"
            for each, content in sorted(built.items())
            if (again / each).read_bytes() != content
        ]
    for file in () if problems else sorted(folder.glob("*.whl")):
        with zipfile.ZipFile(file) as wheel:
            if broken := wheel.testzip():
                problems.append(f"{broken} is broken in {file.name}")
    return problems


def _build(folder: Path) -> None:
    """Build all wheels, and the one archive: that of the top has the sources of all."""
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder.absolute())]
    for each in DISTRIBUTIONS:
        targets = [] if each == ROOT else ["--target", "wheel"]
        built = subprocess.run([*command, *targets], cwd=each, check=False, capture_output=True, text=True)
        if built.returncode:
            said = (built.stderr or built.stdout).strip().splitlines()
            sys.exit(
                f"release: hatchling builds nothing of {each.name}: {said[-1] if said else built.returncode}"
            )


if __name__ == "__main__":
    sys.exit(main())
