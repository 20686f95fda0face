"""The packages that `make setup` of a new fleet installs: wheels and their dependencies, by hashes that the fleet has itself."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path

import pytest

from tests.support.fleet_folder import ROOT
from tests.support.new_fleet import files, init
from tests.support.wheels import VERSION, empty_wheels
from triton_fleet.product.distributions import distributions
from triton_fleet.product.pin import Commit, Origin
from triton_fleet.product.setup_files import setup_files

GIT = "git+https://example.com/fleet@0123456789abcdef0123456789abcdef01234567"
COMMIT = Commit(Origin(version=VERSION, url="https://example.com/fleet", repository=GIT))


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """A new fleet with the example."""
    assert init(tmp_path / "example").exit_code == 0
    return tmp_path / "example"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "# ours\nboto3==1.44.5\ntriton-fleet[local]==0.0.1  # old\npandas\n",
            "# ours\nboto3==1.44.5\nFLEET[local]\npandas\n",
        ),
        ("Triton_Fleet==0.0.1\n", "FLEET[deploy]\n"),
        (
            "./vendor/triton_fleet-0.0.1-py3-none-any.whl --hash=sha256:ab\nboto3==1\n",
            "FLEET[deploy]\nboto3==1\n",
        ),
        (
            f"triton-endpoints==0.0.1\ntriton-fleet[local] @ {GIT}\nboto3==1\ntriton-fleet-emulator==0.0.1",
            "FLEET[local]\nboto3==1\n",
        ),
        ("triton-fleet-extras==1\n", "triton-fleet-extras==1\nFLEET[local]\n"),
        ("pandas\n", "pandas\nFLEET[local]\n"),
        (
            "triton-fleet==0.0.1 \\\n    --hash=sha256:abc\n",
            "triton-fleet==0.0.1 \\\n    --hash=sha256:abc\n",
        ),
    ],
    ids=[
        "among others",
        "another spelling",
        "another wheel",
        "all distributions, and a commit",
        "another package",
        "no line",
        "a line with hashes",
    ],
)
def test_an_upgrade_changes_the_lines_of_the_product_alone(
    initial_fleet: Path, before: str, after: str
) -> None:
    (initial_fleet / "requirements.txt").write_text(before)
    init(initial_fleet, "--upgrade", "--yes")
    text = re.sub(r"FLEET(\S*)", lambda line: "\n".join(lines_of(initial_fleet, line[1])), after)
    assert (initial_fleet / "requirements.txt").read_text() == text


def lines_of(fleet: Path, extras: str) -> list[str]:
    """The lines of the wheels that a fleet with some extras has."""
    names = [f"{distribution.stem}-{VERSION}-py3-none-any.whl" for distribution in distributions(extras)]
    files = [fleet / "vendor" / name for name in names]
    return [
        f"./vendor/{file.name}{extras if file is files[0] else ''}"
        f" --hash=sha256:{sha256(file.read_bytes()).hexdigest()}"
        for file in files
    ]


def test_the_makefile_chooses_a_python_as_that_of_the_clone_does(tmp_path: Path) -> None:
    choice = re.compile(r"^HAS_TRITON := .*?^PYTHON \?= .*?echo python3\)$", re.MULTILINE | re.DOTALL)
    [matches], [written_matches] = (
        choice.findall(text)
        for text in ((ROOT / "Makefile").read_text(), generate_file(tmp_path, "Makefile"))
    )
    assert written_matches == matches


def generate_file(root: Path, name: str) -> str:
    """One of the generated files of a folder."""
    return str(setup_files(root, COMMIT)[name])


def test_what_npm_installs_is_pinned_as_in_the_clone(tmp_path: Path) -> None:
    document, written_document = (
        json.loads((ROOT / "package.json").read_text()),
        json.loads(generate_file(tmp_path, "package.json")),
    )
    names = ("@aws-cdk/toolkit-lib", "aws-cdk", "plotly.js-basic-dist-min")
    assert written_document["devDependencies"] == {name: document["devDependencies"][name] for name in names}
    clone, fleet = (
        npm_packages(text)
        for text in ((ROOT / "package-lock.json").read_text(), generate_file(tmp_path, "package-lock.json"))
    )
    assert fleet.items() <= clone.items()
    assert {name for name, _ in fleet} >= set(names)
    assert all(digest.startswith("sha512-") for digest in fleet.values())


def npm_packages(lock: str) -> dict[tuple[str, str], str]:
    """The digest of each package of a lock of npm by its name and version; none runs a script.

    What is bundled is a part of the package that it lies in.
    """
    actual_packages = json.loads(lock)["packages"].items()
    packages = [(path, entry) for path, entry in actual_packages if path and not entry.get("inBundle")]
    assert not any("hasInstallScript" in item for _, item in packages)
    return {
        (path.rpartition("node_modules/")[2], entry["version"]): entry["integrity"]
        for path, entry in packages
    }


def pins(text: str) -> dict[str, bool]:
    """The requirements of a lock as pip has them, each with whether it has a hash."""
    lines = [line for line in text.replace("\\\n", " ").splitlines() if line and not line.startswith("#")]
    return {line.partition(" --hash")[0]: "--hash=sha256:" in line for line in lines}


def shipped_pins(locks: str) -> dict[str, bool]:
    """Those of locks of the clone, which have comments among them."""
    text = "".join((ROOT / lock).read_text() for lock in locks.split())
    return pins(re.sub(r"(?m)^ *#.*\n", "", text))


@pytest.mark.parametrize(
    ("file", "lock"),
    [
        ("vendor/dependencies.txt", "requirements.txt"),
        ("vendor/local.txt", "requirements-local.txt requirements-triton.txt"),
        ("examples/requirements.txt", "requirements-payload.txt"),
    ],
)
def test_a_fleet_installs_the_tested_versions_each_by_its_hash(example: Path, file: str, lock: str) -> None:
    written_pins = pins((example / file).read_text())
    assert written_pins and all(written_pins.values())
    assert written_pins == shipped_pins(lock)


def test_the_wheels_are_in_the_fleet_and_pinned_by_their_digests(initial_fleet: Path) -> None:
    assert (initial_fleet / "requirements.txt").read_text().splitlines()[-4:] == lines_of(
        initial_fleet, "[local]"
    )
    assert len(list((initial_fleet / "vendor").glob("*.whl"))) == 4


def test_a_fleet_of_a_commit_has_no_wheel_and_what_builds_the_commit_by_its_hash(tmp_path: Path) -> None:
    lines = generate_file(tmp_path, "requirements.txt").splitlines()
    assert lines[-4:] == [
        f"triton-fleet[local] @ {GIT}",
        f"triton-endpoints @ {GIT}#subdirectory=constructs",
        f"triton-fleet-client @ {GIT}#subdirectory=client",
        f"triton-fleet-emulator @ {GIT}#subdirectory=emulator",
    ]
    assert not any(name.endswith(".whl") for name in setup_files(tmp_path, COMMIT))
    build = pins(generate_file(tmp_path, "vendor/build.txt"))
    assert build == shipped_pins("requirements-release.txt")
    assert any(value.startswith("hatchling==") for value in build) and all(build.values())


def test_nothing_that_is_written_names_an_index_or_a_version_of_the_product_on_one(example: Path) -> None:
    texts = {file: (example / file).read_bytes().decode("utf-8", "replace") for file in files(example)}
    named_pattern = re.compile(
        r"triton-fleet(\[\w+\])?\s*==|pypi\.org/project/triton-fleet|--index|--find-links"
    )
    assert [file for file, text in texts.items() if named_pattern.search(text)] == []


def test_make_setup_installs_by_hash_and_runs_no_script(initial_fleet: Path) -> None:
    makefile = (initial_fleet / "Makefile").read_text()
    assert re.findall(r"^.*PIP\) install(.*)", makefile, re.MULTILINE) == [
        " --require-hashes --no-deps --only-binary :all:",
        " --no-deps --no-build-isolation --requirement .venv/commit.txt; fi",
    ]
    assert 'if [ -n "$(BUILD)" ]' in makefile and not (initial_fleet / "vendor/build.txt").exists()
    assert "pip install" not in makefile
    assert re.findall(r"npm ci(.*)", makefile) == [" --ignore-scripts --silent"]


def test_without_local_there_is_no_lock_of_what_serves_on_the_machine(initial_fleet: Path) -> None:
    file = initial_fleet / "requirements.txt"
    file.write_text(file.read_text().replace("[local] --", "[deploy] --"))
    result = init(initial_fleet, "--upgrade", "--yes")
    assert file.read_text().splitlines()[-3:] == lines_of(initial_fleet, "[deploy]")
    obsolete = ("vendor/local.txt", f"vendor/triton_fleet_emulator-{VERSION}-py3-none-any.whl")
    for item in obsolete:
        assert f"delete {item}: these files do without it\n" in result.stdout
        (initial_fleet / item).unlink()
    assert init(initial_fleet).stdout == f"the generated files of {initial_fleet} are up to date\n"


def test_an_upgrade_to_another_wheel_pins_it_and_names_what_nothing_reads_any_more(
    initial_fleet: Path,
) -> None:
    [wheel] = (initial_fleet / "vendor").glob(f"triton_endpoints-{VERSION}-*.whl")
    digest = sha256(wheel.read_bytes()).hexdigest()
    old = sorted(file.name for file in empty_wheels(initial_fleet / "vendor", "0.0.1").glob("*-0.0.1-*"))
    wheel.write_bytes(b"another build")
    (initial_fleet / "constraints.txt").write_text("boto3==1\n")
    lines = init(initial_fleet, "--upgrade", "--yes").stdout.splitlines()
    assert any(
        line.startswith(f"vendor/{wheel.name}: ") and line.endswith(f"sha256 {digest}") for line in lines
    )
    names = ["constraints.txt", *(f"vendor/{item}" for item in old)]
    assert lines[-5:] == [f"delete {name}: these files do without it" for name in names]
