"""`fleet destroy`: what it shows, and the name that a promoted environment asks for."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.typed_command import RunFleet
from triton_fleet.aws.deploy.destroy import Deletion
from triton_fleet.aws.running_configuration import LiveEndpoint
from triton_fleet.cli import destroy as destroy_command

TYPES = [
    "AWS::IAM::Role",
    "AWS::CloudWatch::Alarm",
    "AWS::IAM::Role",
    "AWS::SageMaker::EndpointConfig",
    "AWS::SageMaker::Endpoint",
    "AWS::S3::Bucket",
    "Custom::ScalingGuard",
]


def live(name: str) -> LiveEndpoint:
    return LiveEndpoint(
        name=name,
        status="InService",
        instance_type="ml.g5.xlarge",
        instances=2,
        image="",
        model_data_url="",
        config_name="",
        variants=("AllTraffic",),
    )


@pytest.fixture
def account(two: FleetFolder, monkeypatch: pytest.MonkeyPatch) -> dict[str, Deletion]:
    """The stacks by endpoint, which a test may change; a deletion removes it."""
    deletions = dict[str, Deletion]()
    for name in ("images", "sentences"):
        stack: Any = type("Stack", (), {"name": name, "status": "CREATE_COMPLETE", "is_protected": False})()
        deletions[name] = Deletion(stack=stack, types=TYPES, endpoint=live(name), calls=48213)
    monkeypatch.setattr(destroy_command, "connect", lambda *_: None)
    monkeypatch.setattr(destroy_command, "_leases", lambda *_: None)
    monkeypatch.setattr(destroy_command, "plan_deletion", lambda _, name: deletions.get(name))
    monkeypatch.setattr(
        destroy_command, "delete", lambda _, deletion, *_other_values: deletions.pop(deletion.stack.name)
    )
    return deletions


@pytest.fixture
def recorded_deletions(account: dict[str, Deletion], two: FleetFolder) -> dict[str, Deletion]:
    """The same in `dev`, which is promoted from `staging`; orphans, as it has no specs of its own."""
    two.environment(name="staging")
    two.environment("promoted_from: staging\n")
    return account


def type_in(monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.prompt", lambda *_, **__: answer)


def test_calls_and_cost_are_shown_and_resources_in_words(
    run_fleet: RunFleet, account: dict[str, Deletion]
) -> None:
    result = run_fleet("destroy", "--env", "dev", "--yes", "sentences")
    assert result.code == 0
    assert "  the endpoint sentences, which is InService, 2 × ml.g5.xlarge\n" in result.out
    assert "  calls in the last hour: 48,213\n" in result.out
    assert "  cost a month: 2,027.52 USD\n" in result.out
    assert (
        "  deleted: 1 × endpoint, 1 × endpoint config, 1 × alarm, 1 × bucket, 2 × role, 1 × scaling guard\n"
        in result.out
    )
    assert list(account) == ["images"]


def test_what_cannot_be_read_or_has_no_price_is_unknown(
    run_fleet: RunFleet, account: dict[str, Deletion]
) -> None:
    endpoint = replace(live("sentences"), instance_type="ml.x9.large")
    account["sentences"] = replace(account["sentences"], calls=None, endpoint=endpoint)
    result = run_fleet("destroy", "--env", "dev", "--yes", "sentences")
    assert "  calls in the last hour: unknown: CloudWatch cannot be read\n" in result.out
    assert "  cost a month: unknown: the catalog does not have ml.x9.large\n" in result.out


class TestPromoted:
    @pytest.mark.parametrize(
        ("names", "typed_name", "remaining_lines"),
        [
            (["sentences"], "sentences", ["images"]),
            (["sentences"], "y", ["images", "sentences"]),
            (["sentences", "images"], "dev", []),
            (["sentences", "images"], "sentences", ["images", "sentences"]),
        ],
    )
    def test_the_name_of_the_endpoint_or_of_the_environment_of_several_is_typed(
        self,
        run_fleet: RunFleet,
        recorded_deletions: dict[str, Deletion],
        monkeypatch: pytest.MonkeyPatch,
        names: list[str],
        typed_name: str,
        remaining_lines: list[str],
    ) -> None:
        type_in(monkeypatch, typed_name)
        result = run_fleet("destroy", "--env", "dev", *names)
        assert (result.code, list(recorded_deletions)) == (0, remaining_lines)
        assert ("nothing was deleted" in result.out) is bool(len(remaining_lines) == 2)

    def test_yes_is_not_enough_for_a_script(
        self, run_fleet: RunFleet, recorded_deletions: dict[str, Deletion]
    ) -> None:
        result = run_fleet("destroy", "--env", "dev", "--yes", "sentences")
        assert (result.code, len(recorded_deletions)) == (1, 2)
        assert "FL533: `--yes` does not confirm a deletion in dev, which is promoted" in result.err
        assert "pass --confirm sentences" in result.err

    def test_a_script_passes_the_name(
        self, run_fleet: RunFleet, recorded_deletions: dict[str, Deletion]
    ) -> None:
        wrong = run_fleet("destroy", "--env", "dev", "--confirm", "image", "images")
        assert (wrong.code, len(recorded_deletions)) == (1, 2)
        assert "FL533" in wrong.err
        assert run_fleet("destroy", "--env", "dev", "--confirm", "images", "images").code == 0
        assert list(recorded_deletions) == ["sentences"]

    def test_without_a_terminal_nobody_is_asked(
        self, run_fleet: RunFleet, recorded_deletions: dict[str, Deletion]
    ) -> None:
        result = run_fleet("destroy", "--env", "dev", "sentences")
        assert (result.code, len(recorded_deletions)) == (2, 2)
        assert "pass --confirm sentences" in result.err


@pytest.mark.parametrize(
    ("key", "orphan", "hint"),
    [
        (
            "termination_protection: true\n",
            False,
            "remove `termination_protection` from environments/dev.yaml, ",
        ),
        ("", False, "run `fleet deploy --env dev sentences`; then destroy it"),
        (
            "",
            True,
            "--no-enable-termination-protection --stack-name triton-fleet-dev-sentences`; then destroy",
        ),
    ],
)
def test_nothing_is_deleted_if_one_stack_is_protected(
    run_fleet: RunFleet, account: dict[str, Deletion], two: FleetFolder, key: str, orphan: bool, hint: str
) -> None:
    account["sentences"].stack.is_protected = True  # type: ignore[misc]
    two.environment(key)
    if orphan:
        (two.root / "model_specs/sentences.yaml").unlink()
    result = run_fleet("destroy", "--env", "dev", "--yes", "images", "sentences")
    assert (result.code, len(account)) == (1, 2)
    assert (
        "FL534: triton-fleet-dev-sentences is protected against deletion: nothing was deleted" in result.err
    )
    assert hint in result.err
