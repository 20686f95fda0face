"""Each file of a fleet is parsed once by a command, whatever it asks about it."""

from __future__ import annotations

from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from tests.support.fleet_folder import SPEC, FleetFolder
from tests.support.typed_command import RunFleet
from triton_fleet.check.run import all_findings, checked_fleet
from triton_fleet.endpoint.environment import environment_findings
from triton_fleet.findings import FindingsError
from triton_fleet.project import reader
from triton_fleet.project.project import open_project
from triton_fleet.spec.source import Source
from triton_fleet.store.lock import write_locks

TODAY = date(2026, 6, 1)


def parse_counts(monkeypatch: pytest.MonkeyPatch) -> Counter[Path]:
    """A counter of the files whose text the reader parses from now on."""
    counts, parse = Counter[Path](), reader.parse_source

    def count_read(file: Path, text: str, max_bytes: int = reader.MAX_BYTES) -> Source:
        counts[file] += 1
        return parse(file, text, max_bytes)

    monkeypatch.setattr(reader, "parse_source", count_read)
    return counts


@pytest.fixture
def three(folder: FleetFolder, monkeypatch: pytest.MonkeyPatch) -> FleetFolder:
    """Two endpoints in three environments, with a profile and locks."""
    folder.write("profiles/small.yaml", "environment: {A: b}\n")
    folder.spec(name="images", base=SPEC.replace("endpoint: sentences", "endpoint: images"))
    folder.spec("profile: small\n")
    for name, account in (("staging", "111122223334"), ("prod", "111122223335")):
        folder.environment(name=name)
        folder.write(
            f"environments/{name}.yaml",
            (folder.root / f"environments/{name}.yaml").read_text().replace("111122223333", account),
        )
    folder.lock()
    folder.lock("prod")
    monkeypatch.chdir(folder.root)
    return folder


@pytest.mark.parametrize(
    "command",
    [
        "check --env dev",
        "check --env dev --locked",
        "check --env dev sentences",
        "check --env dev triton=25.04",
        "ls --offline --env dev --env prod",
        "lock --env dev",
        "cost --env dev sentences",
        "show sentences --env dev",
    ],
)
def test_a_command_parses_each_file_once(
    run_fleet: RunFleet, three: FleetFolder, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    counts = parse_counts(monkeypatch)
    assert run_fleet(*command.split()).code == 0
    assert three.root / "model_specs/sentences.yaml" in counts
    assert set(counts.values()) == {1}


def test_a_deploy_parses_each_file_once_before_it_calls_aws(
    three: FleetFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = parse_counts(monkeypatch)
    assert checked_fleet(open_project(three.root, "dev"), today=TODAY).endpoints
    assert set(counts.values()) == {1}


def test_a_broken_spec_is_parsed_once_and_reported_each_time(
    three: FleetFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    three.write("model_specs/images.yaml", "endpoint: [images\n")
    counts, project = parse_counts(monkeypatch), open_project(three.root, "dev")
    for _ in range(2):
        with pytest.raises(FindingsError, match="images.yaml"):
            project.load("images")
        assert [finding.code for finding in all_findings(project)] == ["FL101"]
    assert set(counts.values()) == {1}
    assert [spec.spec.endpoint for spec in project.readable_specs()] == ["sentences"]


def test_another_environment_of_an_open_fleet_shares_its_files(
    three: FleetFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = parse_counts(monkeypatch)
    dev = open_project(three.root, "dev")
    prod = dev.fleet.open("prod")
    assert prod is not dev
    assert prod.deployment.account == "111122223335"
    assert prod.load("sentences").spec == dev.load("sentences").spec
    assert environment_findings(dev) == []
    assert set(counts.values()) == {1}


def test_a_lock_that_a_command_writes_is_read_again(three: FleetFolder) -> None:
    project = open_project(three.root, "dev")
    before = project.lock("sentences")
    three.write("repository/embed/1/model.py", "class TritonPythonModel: x = 2\n")
    write_locks(project)
    assert project.lock("sentences") != before
    assert project.lock("sentences") == open_project(three.root, "dev").lock("sentences")
