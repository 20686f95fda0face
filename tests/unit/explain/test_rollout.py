"""`fleet show` on the number of instances, and on how a new configuration takes over and is checked."""

from __future__ import annotations

from tests.support.fleet_folder import SPEC, FleetFolder
from triton_fleet.endpoint.locks import locked_context
from triton_fleet.explain.decision import Decision
from triton_fleet.explain.decisions import decisions
from triton_fleet.project.project import open_project


def rollout_decisions(folder: FleetFolder, keys: str, base: str = SPEC) -> list[Decision]:
    folder.spec(keys, base=base)
    project = open_project(folder.root, "dev", ["sentences"])
    spec = project.load("sentences")
    context, wrong = locked_context(project, spec)
    return list(decisions(context, project.deployment, project.fleet.prices, wrong))


def values(decisions: list[Decision], group: str) -> list[tuple[str, str | None]]:
    return [(decision.what, decision.value) for decision in decisions if decision.group == group]


def test_a_rollout_is_shown_with_its_time_out_and_what_calls_it_back(folder: FleetFolder) -> None:
    keys = "rollout: {strategy: canary, canary: 50%, bake: 5m}\nalarms: {latency_p99: 200ms}\n"
    rollout = folder, keys, SPEC.replace("ml.g5.xlarge}", "ml.g5.xlarge, count: 2}")
    assert values(rollout_decisions(*rollout), "rollout") == [
        ("strategy", "canary, 50% first, then the rest"),
        ("instances during an update", "twice as many"),
        ("time-out", "3600s"),
        ("rolled back by", "Average of Invocation5XXErrors above 0.01"),
        ("rolled back by", "p99 of ModelLatency above 200000 Microseconds"),
    ]


def test_an_endpoint_that_nothing_calls_back_is_shown_as_such(folder: FleetFolder) -> None:
    assert values(rollout_decisions(folder, ""), "rollout") == [
        ("strategy", "all-at-once"),
        ("instances during an update", "twice as many"),
    ]
    emergency = "rollout: {strategy: all-at-once, rollback_on: []}\n"
    assert values(rollout_decisions(folder, emergency), "rollout")[-1] == ("rolled back by", "nothing")


def test_alarms_are_shown_with_their_conditions_and_who_hears_of_them(folder: FleetFolder) -> None:
    folder.environment("notifications: {critical: [oncall@example.com]}\n")
    keys = "alarms: {latency_p50: 50ms, gpu_memory: 90%, errors: null, disk: null}\n"
    decisions = rollout_decisions(folder, keys, SPEC.replace("ml.g5.xlarge", "ml.g5.12xlarge"))
    assert values(decisions, "alarms") == [
        ("latency_p50, warning", "p50 of ModelLatency above 50 ms in 3 of 5 minutes"),
        ("gpu_memory, warning", "Maximum of GPUMemoryUtilization above 90% in 3 of 5 minutes"),
        ("memory, warning", "Maximum of MemoryUtilization above 90% in 3 of 5 minutes"),
        ("warning goes to", "nobody"),
    ]
    reasons = [decision.reason for decision in decisions if decision.group == "alarms"]
    assert reasons[0] == "from `alarms.latency_p50`; minutes with fewer than 10 calls do not count"
    assert reasons[1] == "from `alarms.gpu_memory`; deployed as 360: the metric adds up a machine's parts"
    assert reasons[2] == "a default; `alarms: {memory: null}` switches it off"
    assert values(rollout_decisions(folder, "alarms: null\n"), "alarms") == [("alarms", "none")]
    assert ("critical goes to", "oncall@example.com") in values(rollout_decisions(folder, ""), "alarms")


def test_targets_are_shown_in_the_units_of_their_metrics(folder: FleetFolder) -> None:
    decisions = rollout_decisions(
        folder, "scaling: {min: 1, max: 4, concurrent_requests: 12, cpu_utilization: 70}\n"
    )
    assert values(decisions, "scaling")[1:] == [
        ("target of ConcurrentRequestsPerModel (AWS/SageMaker)", "12"),
        ("target of CPUUtilization (/aws/sagemaker/Endpoints)", "280 Percent"),
        ("a new instance answers after", "about 12 minutes"),
    ]
    assert "70 % of one vCPU x 4" in next(
        decision.reason for decision in decisions if "CPUUtil" in decision.what
    )


def test_schedules_are_shown_with_when_they_begin(folder: FleetFolder) -> None:
    schedule = '{name: day, at: "cron(0 8 ? * MON *)", time_zone: Europe/Berlin, min: 2}'
    decisions = rollout_decisions(folder, f"scaling: {{min: 1, max: 4, schedules: [{schedule}]}}\n")
    (decision,) = [decision for decision in decisions if decision.what == "schedule day"]
    assert decision.value == "min 2"
    assert decision.reason.startswith("from cron(0 8 ? * MON *) in Europe/Berlin on")


def test_what_a_deploy_ends_with_is_shown_sample_by_sample(folder: FleetFolder) -> None:
    decisions = rollout_decisions(
        folder,
        """\
        samples:
          - name: pair
            inputs: {x: {datatype: FP32, shape: [1, 2], data: 1}}
            outputs: {y: {datatype: FP32, shape: [1, -1], data: 2, tolerance: 0.5}, z: {}}
          - {name: any, inputs: {}}
          - {name: none, inputs: {}, status: 400}
        """,
    )
    assert values(decisions, "check") == [
        ("configuration", "in service with the new one"),
        ("sample pair", "y FP32 [1, -1] values within 0.5, z"),
        ("sample any", "answered with status 200"),
        ("sample none", "refused with status 400"),
    ]
    assert values(rollout_decisions(folder, ""), "check")[1:] == [("samples", "none")]


def test_archives_that_a_deploy_loads_are_shown_by_their_targets(folder: FleetFolder) -> None:
    base = SPEC.replace("endpoint:", "mode: multi-model\nendpoint:")
    assert ("loaded", "sentences.tar.gz") in values(
        rollout_decisions(folder, "warm: [sentences]\n", base), "check"
    )
