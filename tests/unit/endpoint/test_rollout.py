"""Effects of a rollout's keys, and which of them do not go together."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import SPEC, FleetFolder
from triton_fleet.context.rollout import RollbackAlarm
from triton_fleet.endpoint.endpoint_parts import ResolvedRollout
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.project.project import open_project

FOUR = SPEC.replace("ml.g5.xlarge}", "ml.g5.xlarge, count: 4}")
START = 1800 + 600 + 600
"""Finding instances, the download and the start of the model, in seconds."""


def resolve_rollout(folder: FleetFolder, keys: str) -> ResolvedRollout:
    folder.spec(keys, base=FOUR)
    rollout = folder.resolve().rollout
    assert rollout is not None
    return rollout


def codes(folder: FleetFolder, keys: str, base: str = FOUR) -> list[str]:
    folder.spec(keys, base=base)
    return [finding.code for finding in folder.findings()]


class TestTimeOut:
    @pytest.mark.parametrize(
        ("keys", "seconds"),
        [
            ("strategy: all-at-once, bake: 0s", START),
            ("strategy: canary, canary: 25%, bake: 10m, termination_wait: 10m", 2 * 600 + 600 + START),
            ("strategy: linear, step: 25%, bake: 10m", 4 * 600 + START),
            ("strategy: rolling, step: 50%, bake: 10m", 2 * (600 + START)),
            ("strategy: rolling, step: 5%, bake: 10m", 4 * (600 + START)),  # of four instances
            ("strategy: rolling, step: 5%, bake: 1h", 4 * (3600 + START)),
        ],
    )
    def test_it_has_room_for_the_waits_and_the_starts(
        self, folder: FleetFolder, keys: str, seconds: int
    ) -> None:
        assert resolve_rollout(folder, f"rollout: {{{keys}, rollback_on: []}}\n").timeout == seconds

    def test_one_that_is_written_is_kept(self, folder: FleetFolder) -> None:
        assert resolve_rollout(folder, "rollout: {strategy: all-at-once, timeout: 20m}\n").timeout == 1200

    @pytest.mark.parametrize(
        "keys",
        [
            "strategy: linear, step: 10%, bake: 10m, timeout: 40m",
            "strategy: canary, canary: 50%, bake: 1h, termination_wait: 1h, timeout: 3h",
        ],
    )
    def test_one_that_the_waits_use_up_is_refused(self, folder: FleetFolder, keys: str) -> None:
        assert codes(folder, f"rollout: {{{keys}}}\n") == ["FL281"]

    def test_more_than_sagemaker_lets_it_take_is_told(self, folder: FleetFolder) -> None:
        many = FOUR.replace("count: 4", "count: 20")
        folder.spec("rollout: {strategy: rolling, step: 5%, bake: 10m}\n", base=many)
        endpoint = resolve_project(open_project(folder.root, "dev"))
        assert [warning.code for warning in endpoint.warnings] == ["FL281"]
        assert endpoint.warnings[0].message.startswith("waits and starts may take 72000s")
        (resolved_endpoint,) = endpoint.endpoints
        assert resolved_endpoint.rollout is not None
        assert resolved_endpoint.rollout.timeout == 28800


class TestAlarms:
    def test_errors_alone_call_it_back_where_no_latency_is_too_long(self, folder: FleetFolder) -> None:
        rollout = resolve_rollout(folder, "rollout: {strategy: all-at-once}\n")
        assert rollout.alarms == (RollbackAlarm(measure="errors_5xx", statistic="Average", threshold=0.01),)

    def test_each_latency_that_is_too_long_calls_it_back(self, folder: FleetFolder) -> None:
        keys = "alarms: {latency_p50: 50ms, latency_p99: 2s}\nrollout: {strategy: all-at-once, rollback_on: [latency]}\n"
        assert resolve_rollout(folder, keys).alarms == (
            RollbackAlarm(measure="model_latency", statistic="p50", threshold=50_000),
            RollbackAlarm(measure="model_latency", statistic="p99", threshold=2_000_000),
        )

    def test_the_strictest_severity_calls_it_back(self, folder: FleetFolder) -> None:
        keys = "alarms: {latency_p99: {warning: 200ms, critical: 1s}, errors: {critical: 5%}}\n"
        assert [alarm.threshold for alarm in resolve_rollout(folder, f"{keys}rollout: {{}}\n").alarms] == [
            0.05,
            200_000,
        ]

    @pytest.mark.parametrize("keys", ["", "alarms: null\n", "alarms: {errors: null}\n"])
    def test_one_percent_of_errors_does_where_nobody_says_more(self, folder: FleetFolder, keys: str) -> None:
        assert [alarm.threshold for alarm in resolve_rollout(folder, f"{keys}rollout: {{}}\n").alarms] == [
            0.01
        ]

    def test_a_latency_that_nobody_called_too_long_is_asked_for(self, folder: FleetFolder) -> None:
        assert codes(folder, "rollout: {strategy: all-at-once, rollback_on: [latency]}\n") == ["FL283"]

    def test_the_way_out_of_an_emergency_has_none(self, folder: FleetFolder) -> None:
        assert resolve_rollout(folder, "rollout: {strategy: all-at-once, rollback_on: []}\n").alarms == ()


class TestImpossibleMixes:
    @pytest.mark.parametrize(
        ("keys", "code"),
        [
            ("strategy: canary", "FL284"),
            ("strategy: canary, canary: 60%", "FL282"),
            ("strategy: canary, canary: 12.5%", "FL282"),
            ("strategy: linear, step: 5%", "FL282"),
            ("strategy: rolling, step: 50%, termination_wait: 1m", "FL284"),
            ("strategy: all-at-once, step: 50%", "FL284"),
        ],
    )
    def test_each_is_refused(self, folder: FleetFolder, keys: str, code: str) -> None:
        assert code in codes(folder, f"rollout: {{{keys}}}\n")

    def test_one_instance_cannot_be_moved_by_half(self, folder: FleetFolder) -> None:
        assert codes(folder, "rollout: {strategy: canary, canary: 50%}\n", SPEC) == ["FL280"]

    def test_inferentia_1_is_not_rolled_out(self, folder: FleetFolder) -> None:
        assert "FL276" in codes(folder, "rollout: {strategy: all-at-once}\n", SPEC.replace("g5", "inf1"))

    def test_a_raw_deployment_config_is_said_by_the_key(self, folder: FleetFolder) -> None:
        raw = "cloudformation: {Endpoint: {DeploymentConfig.AutoRollbackConfiguration: {Alarms: [{AlarmName: a}]}}}\n"
        assert codes(folder, raw) == ["FL263"]
