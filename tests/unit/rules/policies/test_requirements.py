"""Requirements of a statement: each key, met and unmet, with the line where it belongs."""

from __future__ import annotations

import pytest

from tests.support.policy_fleet import ASK, BY, TODAY, PolicyFleet
from triton_fleet.check.run import all_findings
from triton_fleet.project.project import open_project
from triton_fleet.spec.rollout import Strategy

ROLLOUT = "instance: {type: ml.g5.xlarge, count: 2}\nrollout: {strategy: canary, canary: 50%}\n"
VPC = "network: {subnets: [subnet-0123456789abcdef0], security_groups: [sg-0123456789abcdef0]}\n"
SAMPLE = "samples: [{name: one, inputs: {x: {datatype: FP32, shape: [1], data: 1}}}]\n"
KEY = "kms_key: arn:aws:kms:us-east-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab\n"


@pytest.mark.parametrize(
    ("require", "unmet", "line", "text", "rule"),
    [
        ("owner: true", "", 1, "`owner` is missing", "requires it"),
        ("min_instances: 2", "", 3, "`instance.count` is 1", "requires 2 instances"),
        (
            "min_instances: 2",
            "scaling: {min: 1, max: 3, gpu_utilization: 60}\n",
            6,
            "`scaling.min` is 1",
            "requires 2 instances",
        ),
        (
            "min_instances: 2",
            'scaling:\n  min: 2\n  max: 3\n  schedules:\n    - {name: a, at: "rate(1 hours)", min: 1}\n',
            10,
            "`scaling.schedules[0].min` is 1",
            "requires 2 instances",
        ),
        (
            "min_instances: 2",
            "cloudformation: {EndpointConfig: {ProductionVariants.0.InitialInstanceCount: 1}}\n"
            "scaling: {min: 2, max: 3, gpu_utilization: 60}\n",
            6,
            "the raw property ProductionVariants.0.InitialInstanceCount replaces `instance.count`",
            "accepts only `instance.count`",
        ),
        (
            "min_instances: 2",
            "scaling: {min: 2, max: 3, gpu_utilization: 60}\n"
            "cloudformation:\n  EndpointConfig:\n"
            "    ProductionVariants.0: {ManagedInstanceScaling: {MinInstanceCount: 0}}\n",
            9,
            "the raw property ProductionVariants.0.ManagedInstanceScaling replaces `instance.count`",
            "accepts only `instance.count`",
        ),
        ("rollout: [canary, linear]", "", 1, "`rollout` is missing", "requires canary or linear"),
        (
            "rollout: [canary, linear]",
            "rollout:\n  strategy: rolling\n  step: 50%\n",
            7,
            "`rollout.strategy` is rolling",
            "requires canary or linear",
        ),
        (
            "rollout: [canary]",
            "rollout: {strategy: canary, canary: 50%}\n"
            "cloudformation: {Endpoint: {DeploymentConfig.BlueGreenUpdatePolicy: {}}}\n",
            7,
            "the raw property DeploymentConfig.BlueGreenUpdatePolicy replaces `rollout`",
            "accepts only `rollout`",
        ),
        (
            "rollout: [canary]",
            "rollout: {strategy: canary, canary: 50%}\n"
            "cloudformation: {Endpoint: {RetainDeploymentConfig: true}}\n",
            7,
            "the raw property RetainDeploymentConfig replaces `rollout`",
            "accepts only `rollout`",
        ),
        (
            "rollback_alarms: true",
            "",
            1,
            "without `rollout`, nothing is rolled back",
            "requires an alarm that can roll back an update",
        ),
        (
            "rollback_alarms: true",
            "rollout: {strategy: canary, canary: 50%, rollback_on: []}\n",
            6,
            "no alarm rolls back an update",
            "requires an alarm that can roll back an update",
        ),
        (
            "rollback_alarms: true",
            "alarms: {errors: 1%}\nrollout: {strategy: canary, canary: 50%, rollback_on: [latency]}\n",
            7,
            "no alarm rolls back an update",
            "requires an alarm that can roll back an update",
        ),
        (
            "vpc: true",
            "",
            1,
            "the containers are in SageMaker's own network",
            "requires subnets",
        ),
        (
            "rollback_alarms: true",
            "alarms: {errors: 100%}\nrollout: {strategy: canary, canary: 50%}\n",
            6,
            "no alarm that rolls back an update can fire",
            "requires an alarm that can roll back an update",
        ),
        (
            "rollback_alarms: true",
            "rollout: {strategy: canary, canary: 50%, bake: 0s}\n",
            6,
            "`rollout.bake` is 0s, but the alarms evaluate 180s",
            "requires an alarm that can roll back an update",
        ),
        (
            "vpc: true",
            f"{VPC}cloudformation: {{Model: {{VpcConfig: null}}}}\n",
            7,
            "the raw property VpcConfig replaces `network`",
            "accepts only `network`",
        ),
        ("samples: 1", "", 1, "`samples` is missing", "requires 1 sample"),
        ("samples: 2", SAMPLE, 6, "`samples` has 1 call", "requires 2 samples"),
        ("log_retention_days: 90", "", 1, "`logs.retention_days` is 30", "requires 90 days"),
        (
            "log_retention_days: 90",
            "logs: {retention_days: 60}\n",
            6,
            "`logs.retention_days` is 60",
            "requires 90 days",
        ),
    ],
)
def test_what_is_missing_is_refused_where_it_belongs(
    fleet: PolicyFleet, require: str, unmet: str, line: int, text: str, rule: str
) -> None:
    fleet.policy(f"require: {{{require}}}")
    fleet.spec(unmet)
    assert fleet.finding_lines() == [
        f"sentences.yaml:{line} FL990 {text}; policies/platform.yaml:5 {rule} {BY}"
    ]


@pytest.mark.parametrize(
    ("require", "met_text"),
    [
        ("owner: true", "owner: {team: search}\n"),
        ("owner: false", ""),
        ("min_instances: 2", "scaling: {min: 2, max: 3, gpu_utilization: 60}\n"),
        ("min_instances: 0", ""),
        ("rollout: [canary, linear]", "rollout: {strategy: linear, step: 50%}\n"),
        ("rollback_alarms: true", "rollout: {strategy: canary, canary: 50%}\n"),
        (
            "rollback_alarms: true",
            "alarms: {errors: 100%, latency_p99: {critical: 1s}}\nrollout: {strategy: canary, canary: 50%}\n",
        ),
        (
            "rollback_alarms: true",
            "alarms: {latency_p99: 1s}\nrollout: {strategy: canary, canary: 50%, rollback_on: [latency]}\n",
        ),
        (
            "rollback_alarms: true",
            "container: {inference_type: generate_stream}\nalarms: {latency_p99: 90s}\n"
            "rollout: {strategy: canary, canary: 50%, rollback_on: [latency]}\n",
        ),
        ("vpc: true", VPC),
        ("samples: 1", SAMPLE),
        ("samples: 0", ""),
        ("log_retention_days: 90", "logs: {retention_days: 90}\n"),
        ("log_retention_days: 30", ""),
    ],
)
def test_what_is_required_is_enough(fleet: PolicyFleet, require: str, met_text: str) -> None:
    fleet.policy(f"require: {{{require}}}")
    fleet.spec(met_text)
    assert fleet.finding_lines() == []


@pytest.mark.parametrize("strategy", list(Strategy))
def test_the_rollout_of_a_hint_is_one_that_the_rules_accept(fleet: PolicyFleet, strategy: Strategy) -> None:
    fleet.policy(f"require: {{rollout: [{strategy}]}}")
    (refused_finding,) = fleet.findings()
    text = refused_finding.hint.removeprefix("write `").removesuffix(f"`{ASK}")
    fleet.spec(f"{text}\n", instance="ml.g5.xlarge, count: 2")
    project = open_project(fleet.folder.root, "dev")
    findings = all_findings(project, today=TODAY)
    assert [finding.message for finding in findings if "rollout" in finding.message] == []


def test_an_exception_from_the_strategy_does_not_cover_the_alarms(fleet: PolicyFleet) -> None:
    exception = "exceptions: [{statement: affordable, endpoints: '*', allows: [require.rollout],"
    fleet.policy(
        "require: {rollout: [canary], rollback_alarms: true}",
        f"{exception} reason: a test, until: 2027-03-31}}]",
    )
    fleet.spec(
        "rollout: {strategy: rolling, step: 50%}\n"
        "cloudformation: {Endpoint: {DeploymentConfig.AutoRollbackConfiguration: null}}\n"
    )
    assert [line.partition(";")[0] for line in fleet.finding_lines()] == [
        "sentences.yaml:7 FL990 the raw property DeploymentConfig.AutoRollbackConfiguration replaces `rollout`"
    ]


class TestKey:
    def test_an_environment_without_one_is_refused_once_for_all_endpoints(self, fleet: PolicyFleet) -> None:
        fleet.policy("require: {kms_key: true}")
        fleet.spec(name="other")
        assert fleet.finding_lines() == [
            f"dev.yaml:1 FL990 the environment 'dev' has no `kms_key`; policies/platform.yaml:5 requires one {BY}"
        ]

    def test_one_of_the_environment_is_enough(self, fleet: PolicyFleet) -> None:
        fleet.policy("require: {kms_key: true}")
        fleet.folder.environment(KEY)
        assert fleet.finding_lines() == []

    def test_a_spec_cannot_take_it_away_by_a_raw_property(self, fleet: PolicyFleet) -> None:
        fleet.policy("require: {kms_key: true}")
        fleet.folder.environment(KEY)
        fleet.spec("cloudformation: {EndpointConfig: {KmsKeyId: null}}\n")
        assert [line.partition(" replaces")[0] for line in fleet.finding_lines()] == [
            "sentences.yaml:6 FL990 the raw property KmsKeyId"
        ]


class TestTags:
    @pytest.mark.parametrize("place", ["spec", "environment"])
    def test_a_tag_may_be_the_specs_or_the_environments(self, fleet: PolicyFleet, place: str) -> None:
        fleet.policy("tags: [cost-centre]")
        tags = "tags: {cost-centre: '4711'}\n"
        fleet.spec(tags if place == "spec" else "")
        fleet.folder.environment(tags if place == "environment" else "")
        assert fleet.finding_lines() == []

    def test_one_that_is_missing_is_refused_at_the_tags_of_the_spec(self, fleet: PolicyFleet) -> None:
        fleet.policy("tags: [team, cost-centre]")
        fleet.spec("tags: {team: search}\n")
        (refused_finding,) = fleet.findings()
        assert (refused_finding.code, refused_finding.line) == ("FL959", 6)
        assert refused_finding.message == (
            "there is no tag `cost-centre`; policies/platform.yaml:5 requires `team` and `cost-centre` " + BY
        )
        assert refused_finding.hint == f"write `tags: {{cost-centre: VALUE}}`{ASK}"

    @pytest.mark.parametrize("value", ["''", "' '"])
    def test_one_without_a_value_is_refused_at_its_line(self, fleet: PolicyFleet, value: str) -> None:
        fleet.policy("tags: [cost-centre]")
        fleet.spec(f"tags:\n  cost-centre: {value}\n")
        assert [line.partition(";")[0] for line in fleet.finding_lines()] == [
            "sentences.yaml:7 FL959 the tag `cost-centre` is empty"
        ]

    @pytest.mark.parametrize("resource", ["Model", "EndpointConfig", "Endpoint"])
    def test_a_spec_cannot_take_tags_away_by_a_raw_property(self, fleet: PolicyFleet, resource: str) -> None:
        fleet.policy("tags: [cost-centre]")
        fleet.spec(f"tags: {{cost-centre: a}}\ncloudformation: {{{resource}: {{Tags: []}}}}\n")
        assert [line.partition(";")[0] for line in fleet.finding_lines()] == [
            f"sentences.yaml:7 FL959 the raw property Tags of {resource} replaces `tags`"
        ]
