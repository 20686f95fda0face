"""Fixtures of all tests."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from hypothesis import settings

from tests.support.commands_run import CommandsRun, watch_commands
from tests.support.fleet_folder import LOCK, ROOT, SPEC, FleetFolder
from tests.support.git_repository import GitRepository
from tests.support.run_elsewhere import run_elsewhere
from tests.support.typed_command import RunFleet, TypedResult
from triton_fleet.cli.commands import app
from triton_fleet.core.reads import limit_garbage_collection
from triton_fleet.exits import run_to_exit

gc.disable()  # until all tests are collected
EXAMPLES = 100 if "FLEET_SLOW" in os.environ else 25
settings.register_profile("any machine", deadline=None, max_examples=EXAMPLES)  # a busy machine is no failure
settings.load_profile("any machine")

LONGEST = ("cdk", "triton")
"""Marks of what takes long, the longest first."""


def pytest_configure() -> None:
    """Let commands that tests start end by Ctrl+C, also where a shell starts the tests in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest, so that no worker is alone with one in the end."""
    ranks: dict[Path, int] = {}
    for item in items:
        marks = {mark.name for mark in item.iter_markers()}
        rank = next((rank for rank, mark in enumerate(LONGEST) if mark in marks), len(LONGEST))
        ranks[item.path] = min(rank, ranks.get(item.path, rank))
    items.sort(key=lambda item: ranks[item.path])


def pytest_collection_finish() -> None:
    """Do not look for garbage among moto, botocore and thousands of tests, now or ever: it took half the time."""
    limit_garbage_collection()


@pytest.fixture(autouse=True, scope="session")
def without_settings_of_the_machine() -> Iterator[None]:
    """No profile, proxy or colour of whoever runs the tests reaches them."""
    foreign = ("AWS_", "CDK_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FORCE_COLOR", "NO_PROXY")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.upper().startswith(foreign)]:
            patch.delenv(name)
        patch.setenv("AWS_CONFIG_FILE", os.devnull)
        patch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
        yield


@pytest.fixture(autouse=True)
def without_the_session_of_another_test() -> Iterator[None]:
    """boto3's default session keeps the keys that its first user had."""
    yield
    boto3.DEFAULT_SESSION = None


@pytest.fixture(autouse=True, scope="module")
def commands_run() -> Iterator[CommandsRun]:
    with watch_commands() as run:
        yield run


@pytest.fixture(autouse=True)
def runs_the_documented_commands(request: pytest.FixtureRequest, commands_run: CommandsRun) -> Iterator[None]:
    """A test that is named for commands of the documentation has run them."""
    yield
    missing_lines = commands_run.unrun_commands(run_elsewhere().of(request.node.nodeid))
    assert not missing_lines, f"tests/docs/run_elsewhere.yaml says that this test runs {missing_lines}"


@pytest.fixture
def folder(tmp_path: Path) -> FleetFolder:
    """A fleet without findings."""
    fleet = FleetFolder(tmp_path / "fleet")
    fleet.spec()
    fleet.environment()
    fleet.write("locks/dev/sentences.lock.yaml", LOCK)
    (fleet.root / "repository").mkdir()
    return fleet


@pytest.fixture(scope="session")
def root() -> Path:
    """The clone."""
    return ROOT


@pytest.fixture
def run_fleet(capsys: pytest.CaptureFixture[str]) -> RunFleet:
    """How a command ends in this process, and what it prints."""

    def run(*words: str) -> TypedResult:
        code: object = 0
        try:
            run_to_exit(lambda: app(list(words)))
        except SystemExit as end:
            code = end.code or 0
        return TypedResult(code, *capsys.readouterr())

    return run


@pytest.fixture
def two(folder: FleetFolder, monkeypatch: pytest.MonkeyPatch) -> FleetFolder:
    """Endpoints of two teams, locked and committed; the working directory is the fleet."""
    owner = "owner: {{team: {0}, contact: {0}@example.com, shared_with: [{1}@example.com]}}\n"
    folder.spec(owner.format("search", "vision"))
    folder.spec(owner.format("vision", "search"), "images", base=SPEC.replace("sentences", "images"))
    folder.lock()
    GitRepository.around(folder.root)
    monkeypatch.chdir(folder.root)
    return folder


@pytest.fixture
def working_fleet(folder: FleetFolder, monkeypatch: pytest.MonkeyPatch) -> FleetFolder:
    """The fleet is the working directory."""
    monkeypatch.chdir(folder.root)
    return folder


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds of each pause, none of which lasts."""
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)
    return pauses
