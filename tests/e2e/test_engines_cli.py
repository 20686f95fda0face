"""`fleet publish` and `fleet engines` of an endpoint with an engine: an embedded AWS builds it with stand-ins."""

from __future__ import annotations

import json

import pytest

from tests.support.embedded_keys import VARIABLES
from tests.support.engine_bucket import EngineBucket, empty_engine_bucket
from tests.support.fleet_folder import FleetFolder
from triton_fleet.cli.commands import app

ACCOUNT = "123456789012"


@pytest.fixture
def bucket(aws_url: str, folder: FleetFolder, monkeypatch: pytest.MonkeyPatch) -> EngineBucket:
    """It is a user's working folder."""
    bucket = empty_engine_bucket(aws_url, folder)
    file = folder.root / "environments/dev.yaml"
    file.write_text(file.read_text().replace("111122223333", ACCOUNT))
    (folder.root / "app.py").write_text("")
    bucket.endpoint()
    bucket.clients.s3.create_bucket(Bucket=f"triton-fleet-dev-{ACCOUNT}-us-east-1")
    monkeypatch.chdir(folder.root)
    monkeypatch.setenv("AWS_ENDPOINT_URL", aws_url)
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("triton_fleet.cli.engines.builds.end_like_ctrl_c", lambda: None)
    monkeypatch.setattr("triton_fleet.cli.publish.end_like_ctrl_c", lambda: None)
    return bucket


def output_lines(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    """The output of a command."""
    app([*arguments, "--env", "dev"], standalone_mode=False)
    return capsys.readouterr().out.splitlines()


def test_engines_are_built_listed_and_packed_each_once(
    bucket: EngineBucket, capsys: pytest.CaptureFixture[str]
) -> None:
    assert output_lines(capsys, "engines", "ls") == [
        f"s3://triton-fleet-dev-{ACCOUNT}-us-east-1 has no engines"
    ]
    initial_text, text, built_text = output_lines(capsys, "engines", "build")
    assert (initial_text, built_text) == ("engine sentences/bert: building", "built 1 engine")
    assert text.startswith("engine sentences/bert: ready after ")
    assert output_lines(capsys, "engines", "build") == ["1 engine already present"]
    (limits,) = json.loads("".join(output_lines(capsys, "engines", "ls", "--format", "json")))
    assert limits["key"] == bucket.key()
    assert (limits["model"], limits["tensorrt"], limits["compute_capability"]) == ("bert", "10.9.0.34", "8.6")
    assert limits["needed_by"] == ["sentences/bert"]
    _heading, row, *_lines = output_lines(capsys, "engines", "ls")
    assert (row.split()[0], row.split()[-1]) == (limits["key"].removeprefix("sha256:")[:12], "sentences")
    *_, archives = output_lines(capsys, "publish")
    assert archives.startswith("archives: uploaded 1 (")
    assert output_lines(capsys, "publish") == ["archives: 1 already present"]
    assert len(bucket.builds) == 1
