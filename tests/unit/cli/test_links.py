"""Links in a fleet: nothing is read, quoted or written through one, wherever it leads."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.typed_command import RunFleet
from tests.support.wheels import empty_wheels
from triton_fleet.aws.deploy.deploy_folder import DeployFolder
from triton_fleet.findings import CannotRunError
from triton_fleet.local.state import LocalState

SECRET = "aws_secret_access_key = wJalrXUtnFEMI"
FILES = [
    "model_specs/sentences.yaml",
    "model_specs/_folder.yaml",
    "model_specs/team/other.yaml",
    "environments/dev.yaml",
    "environments/prod.yaml",
    "profiles/small.yaml",
    "policies/platform.yaml",
    "locks/dev/sentences.lock.yaml",
]
FOLDERS = ["model_specs", "model_specs/team", "environments", "profiles", "policies", "locks", "locks/dev"]


@pytest.fixture
def fleet(folder: FleetFolder, monkeypatch: pytest.MonkeyPatch) -> FleetFolder:
    folder.lock()
    monkeypatch.chdir(folder.root)
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder of the machine that has files with names of a fleet."""
    place = tmp_path / "outside"
    for name in ("dev.yaml", "sentences.yaml", "sentences.lock.yaml", "dev/sentences.lock.yaml", "log"):
        FleetFolder(place).write(name, f"{SECRET}\n")
    return place


def link(path: Path, target: Path) -> Path:
    """Put a link in the place of what is at a path, which is moved to the target if that is to have it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        path.rename(path.with_name(f".{path.name}"))
    path.unlink(missing_ok=True)
    path.symlink_to(target)
    return path


def content(folder: Path) -> dict[str, str]:
    return {str(file): file.read_text() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("format", ["human", "json", "sarif", "github"])
@pytest.mark.parametrize("path", FILES)
def test_a_file_that_is_a_link_is_an_error_that_quotes_nothing(
    fleet: FleetFolder, outside: Path, run_fleet: RunFleet, path: str, format: str
) -> None:
    link(fleet.root / path, outside / "sentences.yaml")
    result = run_fleet("check", "--env", "dev", "--format", format)
    assert result.code == 1
    assert "FL105" in result.out + result.err
    assert "aws_secret" not in result.out + result.err


@pytest.mark.parametrize("place", ["outside", "inside"])
@pytest.mark.parametrize("path", FOLDERS)
def test_a_folder_that_is_a_link_is_an_error_even_if_it_stays_in_the_fleet(
    fleet: FleetFolder, outside: Path, run_fleet: RunFleet, path: str, place: str
) -> None:
    inside = fleet.root / "elsewhere"
    target = outside if place == "outside" else inside
    if place == "inside" and (fleet.root / path).is_dir():
        (fleet.root / path).rename(inside)
    inside.mkdir(exist_ok=True)
    link(fleet.root / path, target)
    result = run_fleet("check", "--env", "dev")
    # Without its own folders it is no fleet, in which case there is nothing to check.
    assert result.code in (1, 2)
    assert "aws_secret" not in result.out + result.err
    if result.code == 1:
        assert "FL105" in result.out + result.err


@pytest.mark.parametrize("path", ["locks", "locks/dev", "locks/dev/sentences.lock.yaml"])
def test_no_lock_is_written_through_a_link(
    fleet: FleetFolder, outside: Path, run_fleet: RunFleet, path: str
) -> None:
    before = content(outside)
    link(fleet.root / path, outside / "sentences.lock.yaml" if path.endswith(".yaml") else outside)
    fleet.write("repository/embed/1/model.py", "class TritonPythonModel: x = 2\n")
    result = run_fleet("lock", "--env", "dev")
    # A folder is wrong input, as for every other command; a lock that would be replaced cannot be written.
    assert (result.code, "FL105" in result.err) == ((2, False) if path.endswith(".yaml") else (1, True))
    assert "is a link" in result.err
    assert content(outside) == before


@pytest.mark.parametrize(
    ("path", "command"),
    [
        (".github", "github"),
        (".github/workflows", "github"),
        (".github/workflows/fleet-check.yml", "github"),
        (".github", "codeowners"),
        (".github/CODEOWNERS", "codeowners"),
        ("CODEOWNERS", "codeowners"),
        ("docs", "codeowners"),
        (".gitlab-ci.yml", "gitlab"),
    ],
)
def test_no_file_for_ci_is_read_or_written_through_a_link(
    fleet: FleetFolder, outside: Path, run_fleet: RunFleet, path: str, command: str
) -> None:
    fleet.spec("owner: {team: search, contact: '@example/search'}\n")
    before = content(outside)
    is_file = path.endswith(("yml", "CODEOWNERS"))
    link(fleet.root / path, outside / "sentences.yaml" if is_file else outside)
    result = run_fleet("ci", command)
    assert result.code == 2
    assert f"{fleet.root / path} is a link" in result.err
    assert "aws_secret" not in result.out + result.err
    assert content(outside) == before
    assert (fleet.root / path).is_symlink()


def test_no_spec_is_written_through_a_link(fleet: FleetFolder, outside: Path, run_fleet: RunFleet) -> None:
    before = content(outside)
    link(fleet.root / "model_specs/team", outside)
    command = ("new", "other", "--from-repository", "repository", "--folder", "model_specs/team")
    result = run_fleet(*command)
    assert result.code in (1, 2)
    assert content(outside) == before


def test_no_new_fleet_is_written_through_a_link(tmp_path: Path, outside: Path, run_fleet: RunFleet) -> None:
    before = content(outside)
    link(tmp_path / "fresh/environments", outside)
    result = run_fleet("init", str(tmp_path / "fresh"), "--wheels", str(empty_wheels(tmp_path / "wheels")))
    assert result.code == 2
    assert "environments is a link" in result.err
    assert content(outside) == before


@pytest.mark.parametrize("path", [".fleet", ".fleet/local", ".fleet/local/logs", ".fleet/local/logs/aws.log"])
def test_no_state_of_the_local_fleet_is_written_through_a_link(
    fleet: FleetFolder, outside: Path, path: str
) -> None:
    link(fleet.root / path, outside / "log" if path.endswith(".log") else outside)
    with pytest.raises(CannotRunError, match="is a link"):
        LocalState(fleet.root).log("aws")


@pytest.mark.parametrize("name", ["supervisor.lock", "up.lock"])
def test_no_lock_of_the_local_fleet_is_a_link(fleet: FleetFolder, outside: Path, name: str) -> None:
    state = LocalState(fleet.root)
    link(fleet.root / ".fleet/local" / name, outside / "log")
    with pytest.raises(CannotRunError, match="is a link"):
        state.is_running()
        with state.lock_deploys():
            pass


@pytest.mark.parametrize("path", [".fleet/local/endpoints", ".fleet/cache", ".fleet/cache/triton"])
def test_no_local_fleet_unpacks_through_a_link(fleet: FleetFolder, outside: Path, path: str) -> None:
    link(fleet.root / path, outside)
    with (
        pytest.raises(CannotRunError, match="is a link"),
        LocalState(fleet.root).hold_lock(threading.Event()),
    ):
        pass


@pytest.mark.parametrize("path", [".fleet", ".fleet/deploy/dev", ".fleet/deploy/dev/deploy.lock"])
def test_no_deploy_writes_through_a_link(fleet: FleetFolder, outside: Path, path: str) -> None:
    before = content(outside)
    link(fleet.root / path, outside / "log" if path.endswith("lock") else outside)
    with pytest.raises(CannotRunError, match="is a link"), DeployFolder(fleet.root, "dev").lock():
        pass
    assert content(outside) == before


def test_a_fleet_that_is_reached_by_a_link_is_a_fleet(
    fleet: FleetFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_fleet: RunFleet
) -> None:
    monkeypatch.chdir(link(tmp_path / "linked", fleet.root))
    assert run_fleet("check", "--env", "dev").code == 0
    assert run_fleet("lock", "--env", "dev").code == 0
