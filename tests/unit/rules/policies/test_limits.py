"""Limits of a statement: each key, with the spec's line, the policy's line and owner, and what to write."""

from __future__ import annotations

import pytest

from tests.support.policy_fleet import ASK, BY, POOLS, SHADOW, PolicyFleet
from triton_fleet.findings import Severity


class TestInstances:
    @pytest.mark.parametrize(
        "patterns", ["ml.g5.xlarge", "ml.g5.*", "ml.*.xlarge", "[ml.g6.*, ml.g5.*]", "'*'"]
    )
    def test_a_type_that_a_pattern_matches_is_allowed(self, fleet: PolicyFleet, patterns: str) -> None:
        fleet.policy(f"instances: {patterns}")
        assert fleet.finding_lines() == []

    def test_another_one_is_refused_at_its_line_with_the_line_and_owner_of_the_policy(
        self, fleet: PolicyFleet
    ) -> None:
        fleet.policy("instances: [ml.g6.*, ml.g6e.2xlarge]")
        (refused_finding,) = fleet.findings()
        assert (refused_finding.code, refused_finding.line, refused_finding.severity) == (
            "FL950",
            3,
            Severity.ERROR,
        )
        assert refused_finding.message == (
            "`instance.type` is ml.g5.xlarge; policies/platform.yaml:5 allows ml.g6.* and ml.g6e.2xlarge "
            + BY
        )
        assert refused_finding.hint.startswith("write one of ml.g6.xlarge, ml.g6.2xlarge, ")
        assert refused_finding.hint.endswith(" and 4 more" + ASK)

    def test_a_pattern_matches_the_whole_name_and_a_dot_only_a_dot(self, fleet: PolicyFleet) -> None:
        fleet.policy("instances: [ml.g5, g5.xlarge, ml.g5xxlarge]")
        assert fleet.codes().count("FL950") == 1

    def test_an_instance_pool_of_another_type_is_refused_at_its_line(self, fleet: PolicyFleet) -> None:
        fleet.policy("instances: ml.g5.*")
        fleet.spec(POOLS)
        assert fleet.finding_lines() == [
            f"sentences.yaml:10 FL950 instance pool 2 is ml.p5.48xlarge; policies/platform.yaml:5 allows ml.g5.* {BY}"
        ]

    def test_a_shadow_variant_of_another_type_is_refused(self, fleet: PolicyFleet) -> None:
        fleet.policy("instances: ml.g5.*")
        fleet.spec(SHADOW)
        assert [line.partition(";")[0] for line in fleet.finding_lines()] == [
            "sentences.yaml:9 FL950 shadow variant next is ml.p5.48xlarge"
        ]

    @pytest.mark.parametrize(
        "key", ["ProductionVariants.0.InstanceType", "'Production\\Variants.\\0.Instance\\Type'"]
    )
    def test_a_raw_type_of_the_own_variant_is_refused_however_it_is_spelled(
        self, fleet: PolicyFleet, key: str
    ) -> None:
        fleet.policy("instances: ml.g5.*")
        fleet.spec(f"cloudformation: {{EndpointConfig: {{{key}: ml.p5.48xlarge}}}}\n")
        assert fleet.codes() == ["FL950"]

    @pytest.mark.parametrize(
        "raw",
        [
            "ProductionVariants.0.InstanceType: {Ref: Type}",
            "ProductionVariants.0.InstanceType.Fn::Sub: a",
            "ProductionVariants.0: {InstanceType: {Ref: Type}}",
            "ProductionVariants.0: {'Fn::If': [a, b, c]}",
            "ProductionVariants: {'Fn::FindInMap': [a, b, c]}",
            "ProductionVariants.0.InstancePools: [{InstanceType: {Ref: Type}}]",
            "ProductionVariants.0.InstancePools: {Ref: Pools}",
            "ShadowProductionVariants: {Ref: Shadows}",
            "ShadowProductionVariants: [{InstanceType: {Ref: Type}}]",
            "'Fn::Transform': {Name: AWS::Include}",
            "ProductionVariants.0.InstanceType: [ml.p5.48xlarge]",
        ],
    )
    @pytest.mark.parametrize(
        ("keys", "code"),
        [
            ("instances: ml.*", "FL950"),
            ("gpus: {max: 8}", "FL951"),
            ("monthly_cost: {endpoint: 1000000}", "FL954"),
        ],
    )
    def test_a_type_that_cloudformation_computes_is_refused_by_what_depends_on_it(
        self, fleet: PolicyFleet, raw: str, keys: str, code: str
    ) -> None:
        fleet.policy(keys)
        fleet.spec(f"cloudformation: {{EndpointConfig: {{{raw}}}}}\n")
        assert code in fleet.codes()
        assert all("that is not written out" in line for line in fleet.finding_lines())


class TestGpus:
    def test_an_instance_may_have_as_many_as_allowed(self, fleet: PolicyFleet) -> None:
        fleet.policy("gpus: {max: 4}")
        fleet.spec(instance="ml.g5.12xlarge")
        assert fleet.finding_lines() == []

    def test_more_are_refused(self, fleet: PolicyFleet) -> None:
        fleet.policy("gpus: {max: 4}")
        fleet.spec(instance="ml.g5.48xlarge")
        assert fleet.finding_lines() == [
            "sentences.yaml:3 FL951 `instance.type` is ml.g5.48xlarge, which has 8 GPUs;"
            f" policies/platform.yaml:5 allows 4 GPUs in an instance {BY}"
        ]

    def test_zero_allows_cpu_instances_alone(self, fleet: PolicyFleet) -> None:
        fleet.policy("gpus: {max: 0}")
        assert fleet.codes() == ["FL951"]
        fleet.spec(instance="ml.c5.xlarge")
        assert fleet.codes() == []

    def test_of_a_type_that_the_catalog_does_not_have_the_policy_cannot_be_checked(
        self, fleet: PolicyFleet
    ) -> None:
        fleet.policy("gpus: {max: 4}")
        fleet.spec(instance="ml.g99.xlarge")
        (finding,) = fleet.findings()
        assert (finding.code, finding.severity) == ("FL994", Severity.WARNING)
        assert finding.message.startswith("the catalog does not have ml.g99.xlarge")


class TestRegions:
    def test_an_environment_of_another_region_is_refused_once_in_its_own_file(
        self, fleet: PolicyFleet
    ) -> None:
        fleet.policy("regions: [eu-*, us-west-2]")
        for name in ("a", "b", "c"):
            fleet.spec(name=name)
        assert fleet.finding_lines() == [
            "dev.yaml:3 FL952 the environment 'dev' is in us-east-1; policies/platform.yaml:5 allows eu-* and"
            f" us-west-2 {BY}"
        ]
        assert [finding.endpoints for finding in fleet.findings()] == [("a", "b", "c", "sentences")]

    def test_one_that_a_pattern_matches_is_allowed(self, fleet: PolicyFleet) -> None:
        fleet.policy("regions: us-*")
        assert fleet.finding_lines() == []


class TestMaxInstances:
    @pytest.mark.parametrize("number", [1, 20])
    def test_so_many_are_allowed(self, fleet: PolicyFleet, number: int) -> None:
        fleet.policy("max_instances: 20")
        fleet.spec(f"scaling: {{min: 1, max: {number}, gpu_utilization: 60}}\n")
        assert fleet.finding_lines() == []

    @pytest.mark.parametrize(
        ("text", "line", "key"),
        [
            ("scaling: {min: 1, max: 21, gpu_utilization: 60}\n", 6, "`scaling.max`"),
            (
                'scaling:\n  min: 1\n  max: 2\n  schedules:\n    - {name: a, at: "rate(1 hours)", max: 21}\n',
                10,
                "`scaling.schedules[0].max`",
            ),
            (
                "cloudformation: {EndpointConfig: {ProductionVariants.0.InitialInstanceCount: 21}}\n",
                6,
                "ProductionVariants.0.InitialInstanceCount",
            ),
            (
                'cloudformation: {EndpointConfig: {ProductionVariants.0.InitialInstanceCount: "21"}}\n',
                6,
                "ProductionVariants.0.InitialInstanceCount",
            ),
            (
                "cloudformation:\n  EndpointConfig:\n"
                "    ProductionVariants.0.ManagedInstanceScaling: {Status: ENABLED, MaxInstanceCount: 21}\n",
                8,
                "ProductionVariants.0.ManagedInstanceScaling.MaxInstanceCount",
            ),
        ],
    )
    def test_more_are_refused_at_the_key_that_leads_to_them(
        self, fleet: PolicyFleet, text: str, line: int, key: str
    ) -> None:
        fleet.policy("max_instances: 20")
        fleet.spec(text)
        assert fleet.finding_lines() == [
            f"sentences.yaml:{line} FL953 {key} is 21; policies/platform.yaml:5 allows 20 instances {BY}"
        ]

    def test_a_count_without_scaling_is_limited_too(self, fleet: PolicyFleet) -> None:
        fleet.policy("max_instances: 20")
        fleet.spec(instance="ml.g5.xlarge, count: 21")
        assert fleet.codes() == ["FL953"]

    def test_those_of_a_shadow_variant_are_limited_too(self, fleet: PolicyFleet) -> None:
        fleet.policy("max_instances: 20")
        fleet.spec(SHADOW)
        assert fleet.finding_lines()[0].startswith(
            "sentences.yaml:9 FL953 ShadowProductionVariants.0.InitialInstanceCount is 100; "
        )

    def test_an_override_of_the_environment_is_refused_at_its_line(self, fleet: PolicyFleet) -> None:
        fleet.policy("max_instances: 20")
        fleet.spec("scaling: {min: 1, max: 2, gpu_utilization: 60}\n")
        fleet.folder.environment("overrides:\n  sentences:\n    scaling: {max: 21}\n")
        (refused_finding,) = fleet.findings()
        assert (refused_finding.file, refused_finding.line) == (
            fleet.folder.root / "environments/dev.yaml",
            6,
        )

    @pytest.mark.parametrize("value", ["{Ref: Count}", "many", "[1]"])
    def test_a_number_that_nobody_can_read_is_refused(self, fleet: PolicyFleet, value: str) -> None:
        fleet.policy("max_instances: 20")
        fleet.spec(
            f"cloudformation: {{EndpointConfig: {{ProductionVariants.0.InitialInstanceCount: {value}}}}}\n"
        )
        assert fleet.codes() == ["FL953"]
