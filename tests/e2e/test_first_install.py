"""From a wheel in hand to the first green check, by the commands of the guide."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.support.fleet_folder import ROOT
from tests.support.wheels import VERSION, build_wheels
from triton_fleet.product.pin import Commit, Origin
from triton_fleet.product.setup_files import setup_files

GUIDE = (ROOT / "docs/guides/start-a-fleet.md").read_text()
FIRST = "python3 dist/triton_fleet-0.2.0.dev0-py3-none-any.whl/triton_fleet init my-fleet"
VARIABLES = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, env=VARIABLES, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of triton-fleet; the others are beside it."""
    return build_wheels(tmp_path_factory.mktemp("hand")) / f"triton_fleet-{VERSION}-py3-none-any.whl"


@pytest.fixture
def prepared_clone(tmp_path: Path) -> Path:
    """A folder whose locks are empty but for a package with a script; its Python has all that is needed."""
    folder = tmp_path / "my-fleet"
    (folder / "vendor").mkdir(parents=True)
    for name in ("dependencies.txt", "local.txt"):
        (folder / "vendor" / name).write_text("")
    (folder / "curious").mkdir()
    curious = {"name": "curious", "version": "1.0.0", "scripts": {"postinstall": f"touch {folder}/ran"}}
    (folder / "curious/package.json").write_text(json.dumps(curious))
    manifest = {"name": "fleet", "dependencies": {"curious": "file:curious"}}
    (folder / "package.json").write_text(json.dumps(manifest))
    packages = {
        "": manifest,
        "curious": {"version": "1.0.0", "hasInstallScript": True},
        "node_modules/curious": {"resolved": "curious", "link": True},
    }
    lock = {"name": "fleet", "lockfileVersion": 3, "requires": True, "packages": packages}
    (folder / "package-lock.json").write_text(json.dumps(lock))
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / ".venv"], check=True)
    [site] = folder.glob(".venv/lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    for name in ("node", "npm"):
        (folder / ".venv/bin" / name).symlink_to(Path(sys.executable).with_name(name))
    return folder


def options(folder: Path) -> list[str]:
    return ["init", str(folder), "--account", "123456789012", "--example", "none"]


@pytest.mark.nightly
def test_a_wheel_installs_itself_by_its_digest_and_writes_the_fleet(
    wheel: Path, prepared_clone: Path
) -> None:
    process = run(wheel.parent, sys.executable, f"{wheel.name}/triton_fleet", *options(prepared_clone))
    assert process.returncode == 0, process.stdout + process.stderr
    assert f"next: cd {prepared_clone} && make setup" in process.stdout
    records = "".join(
        file.read_text()
        for file in prepared_clone.glob(".venv/lib/python*/site-packages/triton_*/direct_url.json")
    )
    for path in sorted(wheel.parent.iterdir()):
        assert f'"file://{prepared_clone}/vendor/{path.name}"' in records
    assert "Nothing to be done" in run(prepared_clone, "make", "setup").stdout
    assert (prepared_clone / "node_modules/curious/package.json").is_file()
    assert not (prepared_clone / "ran").exists()
    checked_process = run(prepared_clone, ".venv/bin/fleet", "check", "--env", "dev")
    assert (checked_process.returncode, checked_process.stdout) == (
        0,
        "dev: no findings in model_specs/, which has no specs\n",
    )
    compared_process = run(prepared_clone, ".venv/bin/fleet", "init")
    assert "vendor/triton_fleet" not in compared_process.stdout
    assert "requirements.txt" not in compared_process.stdout


@pytest.mark.nightly
def test_a_wheel_of_which_one_byte_differs_is_not_installed(wheel: Path, prepared_clone: Path) -> None:
    shutil.copy(wheel, prepared_clone / "vendor")
    with (prepared_clone / "vendor" / wheel.name).open("ab") as stream:
        stream.write(b"\0")
    process = run(wheel.parent, sys.executable, f"{wheel.name}/triton_fleet", *options(prepared_clone))
    assert process.returncode == 2
    assert "THESE PACKAGES DO NOT MATCH THE HASHES" in process.stderr
    assert "run this command again to continue" in process.stderr
    assert not (prepared_clone / ".venv/bin/fleet").exists()


@pytest.mark.parametrize("arguments", [[], ["init"], ["init", "--account", "1"], ["deploy", "x"], ["--help"]])
def test_a_wheel_does_nothing_else_and_says_what_it_does(wheel: Path, arguments: list[str]) -> None:
    process = run(wheel.parent, sys.executable, "-S", f"{wheel.name}/triton_fleet", *arguments)
    assert (process.returncode, process.stdout) == (2, "")
    assert f"remedy: python3 {wheel.name}/triton_fleet init DIR" in process.stderr


def test_a_folder_that_cannot_be_written_and_requirements_without_the_product_are_named(
    wheel: Path, tmp_path: Path
) -> None:
    (tmp_path / "Makefile").mkdir()
    command = (sys.executable, "-S", f"{wheel.name}/triton_fleet", "init", str(tmp_path))
    assert f"{tmp_path}/Makefile is a folder" in run(wheel.parent, *command).stderr
    (tmp_path / "Makefile").rmdir()
    (tmp_path / "requirements.txt").write_text("numpy==2\n")
    process = run(wheel.parent, *command)
    assert process.returncode == 2
    assert "remedy: add these lines:\n" in process.stderr
    assert f" ./vendor/{wheel.name}[local] --hash=sha256:" in process.stderr
    assert process.stderr.count(" ./vendor/triton_") == 4


@pytest.mark.nightly
def test_a_commit_is_installed_by_its_id_after_what_has_a_hash(prepared_clone: Path) -> None:
    """Its build backend is that of the tests, as the locks are empty."""
    process = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    commit = process.stdout.strip()
    url = f"file://localhost{ROOT}"
    origin = Origin(version=VERSION, url=url, repository=f"git+{url}@{commit}")
    for name, content in setup_files(prepared_clone, Commit(origin)).items():
        if not (prepared_clone / name).exists():
            (prepared_clone / name).write_text(str(content))
    (prepared_clone / "vendor/build.txt").write_text("")
    actual_process = run(prepared_clone, "make", "setup")
    assert actual_process.returncode == 0, actual_process.stdout + actual_process.stderr
    records = [
        json.loads(file.read_text())
        for file in prepared_clone.glob(".venv/lib/python*/site-packages/triton_*/direct_url.json")
    ]
    assert {record.get("subdirectory") for record in records} == {None, "constructs", "client", "emulator"}
    assert {record["vcs_info"]["commit_id"] for record in records} == {commit}
    compared_process = run(prepared_clone, ".venv/bin/fleet", "init", str(prepared_clone))
    assert "requirements.txt" not in compared_process.stdout, compared_process.stderr


@pytest.mark.nightly
@pytest.mark.skipif("FLEET_SLOW" not in os.environ, reason="minutes, and an index: FLEET_SLOW=1 runs it")
def test_the_commands_of_the_guide_lead_from_a_wheel_to_a_green_check(wheel: Path, tmp_path: Path) -> None:
    shutil.copytree(wheel.parent, tmp_path / "dist")
    blocks = re.findall(r"```text\n(.*?)```", GUIDE, re.DOTALL)
    [first] = [block for block in blocks if block.startswith(FIRST)]
    [after] = [block for block in blocks if block.startswith("cd my-fleet\n")]
    texts = [line.partition("#")[0].strip() for line in f"{first}{after}".splitlines()]
    assert texts[-1].startswith("fleet local up ")
    script = "\n".join(["set -e", *texts[:-1], "python -m pip list --format freeze"])
    process = run(tmp_path, "bash", "-c", script)
    assert process.returncode == 0, process.stdout + process.stderr
    assert "0 errors" in process.stdout + process.stderr
    lines = [line for line in process.stdout.splitlines() if "==" in line]
    locks = "".join(
        (ROOT / f"requirements{name}.txt").read_text() for name in ("-local", "-triton", "-payload")
    )
    own = ("pip==", "setuptools==", "triton-fleet", "triton-endpoints==")
    normals = {_normal(match) for match in re.findall(r"^[\w.-]+==[\w.+!]+", locks, re.MULTILINE)}
    assert [line for line in lines if not line.startswith(own) and _normal(line) not in normals] == []
    assert shlex.split(texts[0])[0] == "python3"


def _normal(pin: str) -> str:
    name, _, version = pin.partition("==")
    return f"{re.sub('[-_.]+', '-', name).lower()}=={version}"
