"""Names in raw properties are there for the endpoint: models, images, reservations."""

from __future__ import annotations

from typing import Any

import pytest

from triton_fleet.context.machines import OWN_MODEL
from triton_fleet.rules.example import REGION, Case
from triton_fleet.rules.registry import rules

OWN = {"Fn::GetAtt": [OWN_MODEL, "ModelName"]}
PACKAGE = "sagemaker-tritonserver:25.04-py3"
POOL = {"InstanceType": "ml.g5.xlarge", "Priority": 1}
POOLS = "ProductionVariants.0.InstancePools"
COMPUTED_POOLS = {"Fn::If": ["Large", [POOL], {"Ref": "AWS::NoValue"}]}
RESERVATION_KEY = "ProductionVariants.0.CapacityReservationConfig"
PLAN = "training-plan/ours"


def name_messages(
    code: str, resource: str, raw: dict[str, Any], region: str = REGION, **keys: Any
) -> list[str]:
    """Messages of a rule for a spec with raw properties of one resource."""
    spec = {"cloudformation": {resource: raw}, **keys}
    case = Case(spec=spec, region=region, models=None, archive_size=1 << 20)
    return [problem.message for problem in case.problems(rules()[code])]


def config(code: str, raw: dict[str, Any], **keys: Any) -> list[str]:
    """Messages for raw properties of the endpoint configuration."""
    return name_messages(code, "EndpointConfig", raw, **keys)


def shadow(**variant: Any) -> dict[str, Any]:
    """A shadow variant with further properties."""
    return {"ShadowProductionVariants": [{"VariantName": "b", "InstanceType": "ml.g5.xlarge", **variant}]}


class TestModels:
    def test_a_literal_name_is_of_a_model_that_nobody_makes(self) -> None:
        assert config("FL560", shadow(ModelName="theirs")) == [
            "ShadowProductionVariants.0.ModelName names the model 'theirs', which the endpoint's stack does not"
            " create"
        ]

    @pytest.mark.parametrize("value", ["theirs", {"Ref": "Theirs"}, {"Fn::GetAtt": ["Theirs", "ModelName"]}])
    def test_a_pool_names_no_model_of_others(self, value: object) -> None:
        (message,) = config("FL560", {POOLS: [{**POOL, "ModelNameOverride": value}]})
        assert message.startswith(f"{POOLS}.0.ModelNameOverride ")

    @pytest.mark.parametrize(
        ("value", "reason"),
        [
            ({"Ref": "Other"}, "may name another Model"),
            ({"Ref": OWN_MODEL}, "is the ARN of the spec's Model, not its name"),
            ({"Fn::GetAtt": [OWN_MODEL, "Id"]}, "may name another Model"),
            ({"Fn::GetAtt": 7}, "may name another Model"),
            ({"Fn::ImportValue": "a-model"}, "may name another Model"),
            ({"Fn::Sub": "${AWS::Region}-model"}, "may name another Model"),
        ],
    )
    def test_a_reference_leads_to_the_name_of_the_model(self, value: object, reason: str) -> None:
        assert config("FL560", shadow(ModelName=value)) == [f"ShadowProductionVariants.0.ModelName {reason}"]

    @pytest.mark.parametrize(
        "raw",
        [
            {"ProductionVariants.0.ModelName": "theirs"},
            {"ProductionVariants.0.ModelName.Ref": "Theirs"},
            {"ProductionVariants.0": {"ModelName": "theirs"}},
            {"ProductionVariants": [{"ModelName": "theirs"}]},
            {"ProductionVariants.0": {"Fn::If": ["A", {"ModelName": "theirs"}, {}]}},
            {POOLS: {"Fn::If": ["A", [{**POOL, "ModelNameOverride": "theirs"}], []]}},
            {f"{POOLS}.Fn::If.1.0.ModelNameOverride": "theirs"},
            {POOLS: {"Fn::Transform": {"Name": "AWS::Include"}}},
            {f"{POOLS}.Fn::Transform.Name": "AWS::Include"},
            {"Fn::Transform": {"Name": "AWS::Include"}},
        ],
    )
    def test_the_own_variant_runs_the_model_of_the_spec_however_it_is_replaced(
        self, raw: dict[str, Any]
    ) -> None:
        assert len(config("FL560", raw)) == 1

    def test_pools_that_cloudformation_chooses_run_it_too(self) -> None:
        own = [{**POOL, "ModelNameOverride": OWN}]
        assert config("FL560", {POOLS: {"Fn::If": ["A", own, [POOL]]}}) == []

    @pytest.mark.parametrize("value", ["theirs", {"Ref": "Theirs"}, None])
    def test_an_endpoint_runs_the_configuration_of_its_stack(self, value: object) -> None:
        (message,) = name_messages("FL560", "Endpoint", {"EndpointConfigName": value})
        assert message == "EndpointConfigName replaces the endpoint configuration that the spec describes"

    def test_a_spec_cannot_allow_itself_another(self) -> None:
        assert rules()["FL560"].is_needed

    @pytest.mark.parametrize("value", [OWN, {"Fn::GetAtt": f"{OWN_MODEL}.ModelName"}])
    def test_the_model_of_the_spec_is_named_by_its_attribute(self, value: object) -> None:
        assert config("FL560", shadow(ModelName=value)) == []

    def test_a_variant_without_a_model_is_told(self) -> None:
        assert config("FL232", shadow()) == ["ShadowProductionVariants.0 names no model"]


class TestImages:
    @pytest.mark.parametrize("image", ["a/b:1", {"Fn::Sub": "a/b:1"}])
    def test_an_image_of_ones_own_is_a_warning(self, image: object) -> None:
        spec = {"cloudformation": {"Model": {"PrimaryContainer.Image": image}}}
        case = Case(spec=spec, region=REGION, models=None, archive_size=1 << 20)
        (finding,) = case.findings(rules()["FL299"])
        assert finding.severity.value == "warning"

    @pytest.mark.parametrize(
        ("registry", "region"),
        [
            ("111122223333.dkr.ecr.us-west-2.amazonaws.com", "us-east-1"),
            ("111122223333.dkr.ecr-fips.us-west-2.amazonaws.com", "us-east-1"),
            ("111122223333.dkr.ecr.cn-north-1.amazonaws.com.cn", "us-east-1"),
            ("111122223333.dkr.ecr.cn-north-1.amazonaws.com", "cn-north-1"),
        ],
    )
    def test_an_image_of_another_region_or_partition_is_an_error(self, registry: str, region: str) -> None:
        raw = {"PrimaryContainer.Image": f"{registry}/{PACKAGE}"}
        (message,) = name_messages("FL232", "Model", raw, region)
        assert message.endswith("SageMaker pulls images only from its own region")

    @pytest.mark.parametrize(
        "image",
        [f"111122223333.dkr.ecr.us-east-1.amazonaws.com/{PACKAGE}", "registry.local/a:1", {"Ref": "I"}],
    )
    def test_an_image_of_the_region_or_of_no_known_region_is_none(self, image: object) -> None:
        assert name_messages("FL232", "Model", {"PrimaryContainer": {"Image": image}}) == []


class TestReservations:
    @pytest.mark.parametrize(
        "arn",
        [
            f"arn:aws:sagemaker:us-west-2:111122223333:{PLAN}",
            f"arn:aws:sagemaker:us-east-1:444455556666:{PLAN}",
            f"arn:aws-cn:sagemaker:us-east-1:111122223333:{PLAN}",
        ],
    )
    def test_a_reservation_is_of_the_environments_region_and_account(self, arn: str) -> None:
        assert config("FL232", {f"{RESERVATION_KEY}.MlReservationArn": arn}) == [
            f"{arn} is not a reservation of account 111122223333 in us-east-1"
        ]

    def test_an_endpoint_has_one_reservation(self) -> None:
        ours, other_text = (
            f"arn:aws:sagemaker:us-east-1:111122223333:{name}" for name in (PLAN, f"{PLAN}-2")
        )
        for plan, said_text in (
            (ours, []),
            (other_text, [f"the endpoint has two reservations, {ours} and {other_text}"]),
        ):
            second = shadow(ModelName=OWN, CapacityReservationConfig={"MlReservationArn": plan})
            lines = config("FL232", {f"{RESERVATION_KEY}.MlReservationArn": ours, **second})
            assert [line.partition(": SageMaker takes one")[0] for line in lines] == said_text

    def test_a_reservation_of_one_type_beside_pools_is_a_warning(self) -> None:
        raw = {POOLS: [POOL], RESERVATION_KEY: {"MlReservationArn": {"Ref": "Plan"}}}
        case = Case(
            spec={"cloudformation": {"EndpointConfig": raw}}, region=REGION, models=None, archive_size=1 << 20
        )
        (problem,) = case.problems(rules()["FL232"])
        assert not problem.certain
        assert problem.message.startswith("a capacity reservation is of one instance type")

    @pytest.mark.parametrize("arn", [f"arn:aws:sagemaker:us-east-1:111122223333:{PLAN}", {"Ref": "Plan"}])
    def test_one_of_the_environment_is_taken(self, arn: object) -> None:
        assert config("FL232", {RESERVATION_KEY: {"MlReservationArn": arn}}) == []


class TestRegionsOfPools:
    def test_a_region_that_awss_list_lacks_is_named_with_the_near_ones_that_have_pools(self) -> None:
        raw = {POOLS: [POOL]}
        (message,) = name_messages("FL531", "EndpointConfig", raw, region="eu-west-3")
        assert message == "AWS lists instance pools in 16 regions, and eu-west-3 is not one of them"

    @pytest.mark.parametrize("region", ["us-east-1", "eu-central-2", "ap-southeast-3"])
    def test_in_a_listed_region_pools_are_no_finding(self, region: str) -> None:
        assert name_messages("FL531", "EndpointConfig", {POOLS: [POOL]}, region=region) == []

    def test_without_pools_the_region_does_not_matter(self) -> None:
        assert name_messages("FL531", "EndpointConfig", shadow(ModelName=OWN), region="eu-west-3") == []


class TestPoolsAndShadows:
    def test_a_multi_model_endpoint_has_neither(self) -> None:
        raw = {POOLS: [POOL], **shadow(ModelName=OWN)}
        assert config("FL347", raw, mode="multi-model") == [
            "SageMaker accepts no instance pools for a multi-model endpoint",
            "SageMaker accepts no shadow variant for a multi-model endpoint",
        ]

    def test_the_first_pool_is_of_the_type_of_the_spec(self) -> None:
        pools = [
            {"InstanceType": "ml.g5.xlarge", "Priority": 2},
            {"InstanceType": "ml.g6.xlarge", "Priority": 1},
        ]
        assert config("FL347", {POOLS: pools}) == [
            "the first instance pool is ml.g6.xlarge, and `instance.type` is ml.g5.xlarge"
        ]
        assert config("FL347", {POOLS: pools}, instance={"type": "ml.g6.xlarge"}) == []

    def test_a_type_that_cloudformation_computes_may_be_the_first(self) -> None:
        assert config("FL347", {POOLS: [{**POOL, "InstanceType": {"Ref": "Type"}}]}) == []

    @pytest.mark.parametrize("variant", ["ProductionVariants.0", "ShadowProductionVariants.0"])
    def test_pools_do_not_stand_beside_an_instance_type(self, variant: str) -> None:
        raw = {f"{variant}.InstanceType": "ml.g5.xlarge", f"{variant}.InstancePools": [POOL]}
        assert config("FL347", raw) == [f"{variant} has InstancePools, which replace an InstanceType"]

    @pytest.mark.parametrize(
        "further", [{}, {"InstanceType": None}, {"ServerlessConfig": {"MaxConcurrency": 1}}]
    )
    def test_a_shadow_variant_has_an_instance_type_or_pools(self, further: dict[str, Any]) -> None:
        raw = {"ShadowProductionVariants": [{"VariantName": "b", "ModelName": OWN, **further}]}
        assert config("FL347", raw) == ["ShadowProductionVariants.0 has no instance type"]

    @pytest.mark.parametrize("further", [{"InstanceType": {"Ref": "Type"}}, {"InstancePools": [POOL]}])
    def test_one_that_has_is_taken(self, further: dict[str, Any]) -> None:
        raw = {"ShadowProductionVariants": [{"VariantName": "b", "ModelName": OWN, **further}]}
        assert config("FL347", raw) == []

    @pytest.mark.parametrize(
        ("name", "raw"),
        [
            (POOLS, {POOLS: COMPUTED_POOLS}),
            (POOLS, {"ProductionVariants.0": {"InstancePools": COMPUTED_POOLS}}),
            (f"{POOLS}.0", {POOLS: [COMPUTED_POOLS]}),
            ("ShadowProductionVariants", {"ShadowProductionVariants": COMPUTED_POOLS}),
            ("ShadowProductionVariants.0", {"ShadowProductionVariants": [COMPUTED_POOLS]}),
        ],
    )
    def test_pools_and_shadow_variants_are_written_out(self, name: str, raw: dict[str, Any]) -> None:
        assert config("FL347", raw) == [f"{name} is an intrinsic function: its result cannot be checked"]
        assert config("FL232", raw) == []


class TestLimits:
    @pytest.mark.parametrize("index", ["1", "999999999", "2000000000", "4294967294", "9" * 30])
    def test_no_number_is_too_large_for_a_further_variant(self, index: str) -> None:
        raw = {f"ProductionVariants.{index}.InstanceType": "ml.p4d.24xlarge"}
        assert config("FL350", raw)
        assert rules()["FL350"].is_needed

    def test_there_is_one_shadow_variant(self) -> None:
        variants = shadow(ModelName=OWN)["ShadowProductionVariants"] * 2
        assert config("FL350", {"ShadowProductionVariants": variants}) == [
            "SageMaker accepts one shadow variant beside one variant"
        ]

    @pytest.mark.parametrize("variant", ["ProductionVariants.0", "ShadowProductionVariants.0"])
    @pytest.mark.parametrize("as_list", [True, False])
    def test_there_are_five_pools(self, variant: str, as_list: bool) -> None:
        pools: Any = [POOL] * 7 if as_list else {str(index): POOL for index in range(7)}
        assert config("FL350", {f"{variant}.InstancePools": pools}) == [
            f"{variant} has 7 instance pools, and SageMaker accepts 5"
        ]
        assert config("FL350", {f"{variant}.InstancePools": [POOL] * 5}) == []

    @pytest.mark.parametrize(
        "raw",
        [
            {"ProductionVariants.1": {"VariantName": "c", "InstanceType": "ml.g99.xlarge"}},
            {"ProductionVariants.1": {"ModelName": "theirs", "VolumeSizeInGB": 100, "Unknown": 1}},
            {f"{RESERVATION_KEY.replace('.0.', '.1.')}.MlReservationArn": "arn:aws:sagemaker:a:b:c"},
            {"ProductionVariants.1.ModelName": "a", "ProductionVariants.1.InstanceType": "ml.g5.xlarge"},
        ],
    )
    def test_of_a_further_variant_one_thing_is_told(self, raw: dict[str, Any]) -> None:
        spec = {"triton": "26.05", "cloudformation": {"EndpointConfig": raw}}
        case = Case(spec=spec, region=REGION, models=None, archive_size=1 << 20)
        rows = [(code, problem) for code, rule in rules().items() for problem in case.problems(rule)]
        assert [(code, item.message, item.hint) for code, item in rows] == [
            ("FL350", "an endpoint has one variant", "remove ProductionVariants.1")
        ]

    def test_no_spec_can_allow_itself_what_is_not_judged(self) -> None:
        assert rules()["FL350"].is_needed
