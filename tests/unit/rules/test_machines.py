"""Rules judge every instance type that raw properties bring in: pools, a shadow variant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.support.fleet_folder import SPEC, FleetFolder
from triton_fleet.context.machines import OWN_MODEL
from triton_fleet.rules.example import REGION, Case
from triton_fleet.rules.registry import rules

G5, G6 = "ml.g5.xlarge", "ml.g6.xlarge"
G7E = "ml.g7e.2xlarge"
"""Of a family without a driver for CUDA 12."""
OWN = {"Fn::GetAtt": [OWN_MODEL, "ModelName"]}
POOLS = "ProductionVariants.0.InstancePools"
PLAN = {"backend": "tensorrt", "plans": {"1/model.plan": "10.9.0.34"}}
Spec = Mapping[str, Any]


def pool_spec(*types: str, **further: Any) -> dict[str, Any]:
    """A spec of one triton release whose variant has instance pools, the first of the spec's own type."""
    pools = [{"InstanceType": name, "Priority": number} for number, name in enumerate(types, 1)]
    raw = {"EndpointConfig": {POOLS: pools}}
    return {"triton": "25.04", "instance": {"type": types[0]}, "cloudformation": raw, **further}


def shadow_spec(instance: str, **variant: Any) -> dict[str, Any]:
    """A spec on g6 whose own model also runs on a shadow variant."""
    shadow = {"VariantName": "b", "ModelName": OWN, "InstanceType": instance, **variant}
    raw = {"EndpointConfig": {"ShadowProductionVariants": [shadow]}}
    return {"triton": "25.04", "instance": {"type": G6}, "cloudformation": raw}


def case(spec: Spec, models: Mapping[str, Any] | None = None, region: str = REGION) -> Case:
    """The spec as rules see it."""
    return Case(spec=spec, region=region, models=models, archive_size=1 << 20)


def rule_messages(spec: Spec, code: str, models: Mapping[str, Any] | None = None) -> list[str]:
    """The messages of a rule."""
    return [problem.message for problem in case(spec, models).problems(rules()[code])]


class TestPools:
    def test_a_pool_without_a_driver_is_an_error_at_the_line_of_the_pool(self, folder: FleetFolder) -> None:
        base = SPEC.replace(G5, G6)
        folder.spec(
            "cloudformation:\n"
            "  EndpointConfig:\n"
            "    ProductionVariants.0.InstancePools:\n"
            f"      - {{InstanceType: {G6}, Priority: 1}}\n"
            f"      - {{InstanceType: {G7E}, Priority: 2}}\n",
            base=base,
        )
        finding = next(finding for finding in folder.findings() if finding.code == "FL204")
        assert finding.message == (
            "instance pool 2: Triton 25.04 is built for CUDA 12, and no SageMaker host image has a driver"
            " for it on g7e instances"
        )
        assert finding.line == base.count("\n") + 5

    def test_the_spec_on_the_first_pool_alone_breaks_nothing(self) -> None:
        assert rule_messages(pool_spec(G6), "FL204") == []

    @pytest.mark.parametrize(
        "raw",
        [
            {"ProductionVariants.0": {"InstancePools": [{"InstanceType": G7E, "Priority": 2}]}},
            {"ProductionVariants": {"0": {"InstancePools": [{"InstanceType": G7E, "Priority": 2}]}}},
            {POOLS: {"0": {"InstanceType": G7E, "Priority": 2}}},
            {f"{POOLS}.0.InstanceType": G7E, f"{POOLS}.0.Priority": 2},
        ],
    )
    def test_a_pool_is_found_in_every_spelling(self, raw: dict[str, Any]) -> None:
        spec = pool_spec(G6, cloudformation={"EndpointConfig": raw})
        assert [line.partition(":")[0] for line in rule_messages(spec, "FL204")] == ["instance pool 2"]

    def test_the_host_image_is_one_that_all_pools_take(self) -> None:
        ami = case(pool_spec("ml.g6.xlarge", "ml.p4d.24xlarge")).context().ami
        assert ami is not None
        assert ami.name == "al2-ami-sagemaker-inference-gpu-2"

    def test_a_named_host_image_is_judged_for_each_pool(self) -> None:
        named_values = {"type": G6, "ami": "al2023-ami-sagemaker-inference-gpu-4-1"}
        spec = pool_spec(G6, "ml.p4de.24xlarge", instance=named_values, triton="25.09")
        assert rule_messages(spec, "FL222") == [
            "instance pool 2: no source confirms that the host image al2023-ami-sagemaker-inference-gpu-4-1"
            " runs on p4de instances"
        ]

    def test_a_named_host_image_is_held_against_the_release_once(self) -> None:
        named_values = {"type": G6, "ami": "al2023-ami-sagemaker-inference-gpu-4-1"}
        assert len(rule_messages(pool_spec(G6, G5, instance=named_values), "FL223")) == 1

    @pytest.mark.parametrize(
        ("code", "instance"),
        [
            ("FL203", "ml.g99.xlarge"),
            ("FL226", "ml.inf2.xlarge"),
            ("FL226", "ml.m7g.xlarge"),
            ("FL225", "ml.p2.xlarge"),
            ("FL227", "ml.p2.xlarge"),
            ("FL230", G5),
        ],
    )
    def test_the_type_of_a_pool_is_judged(self, code: str, instance: str) -> None:
        raw = {POOLS: [{"InstanceType": instance, "Priority": 2}], "ProductionVariants.0.VolumeSizeInGB": 9}
        spec = pool_spec("ml.m5.xlarge", cloudformation={"EndpointConfig": raw})
        assert [line.partition(":")[0] for line in rule_messages(spec, code)] == ["instance pool 2"]

    @pytest.mark.parametrize(
        ("instance", "region", "proposal"),
        [
            ("ml.m7g.xlarge", "us-east-1", "x86-64 processor such as ml.m7i.xlarge"),
            ("ml.m7g.xlarge", "eu-central-2", "x86-64 processor such as ml.m5.xlarge"),
            ("ml.c6g.medium", "us-east-1", "x86-64 processor such as ml.c5."),
            ("ml.p6e-gb200.36xlarge", "us-east-1", "GPU instance such as ml.g5.xlarge"),
            ("ml.inf2.xlarge", "us-east-1", "GPU instance such as ml.g5.xlarge"),
        ],
    )
    def test_a_type_that_triton_runs_on_is_proposed(self, instance: str, region: str, proposal: str) -> None:
        spec = {"instance": {"type": instance}}
        (problem,) = case(spec, region=region).problems(rules()["FL226"])
        assert proposal in problem.hint

    def test_the_region_of_a_pool_is_judged(self) -> None:
        spec = pool_spec(G5, "ml.p5.48xlarge")
        messages = [
            problem.message for problem in case(spec, region="eu-central-2").problems(rules()["FL228"])
        ]
        assert "instance pool 2: SageMaker does not host ml.p5.48xlarge in eu-central-2" in messages

    def test_weights_have_to_fit_each_pools_gpu(self) -> None:
        models = {"big": {"backend": "onnxruntime", "size": 20 << 30}}
        (message,) = rule_messages(pool_spec(G6, "ml.g4dn.xlarge"), "FL251", models)
        assert message.startswith("instance pool 2: the weights of big")

    def test_a_model_that_wants_a_gpu_is_judged_on_a_pool_without(self) -> None:
        models = {"gpu": {"backend": "python", "instances": [{"kind": "KIND_GPU"}]}}
        assert rule_messages(pool_spec(G6, "ml.m5.xlarge"), "FL253", models) == [
            "instance pool 2: model 'gpu' needs KIND_GPU; ml.m5.xlarge has no GPU"
        ]

    def test_a_plan_of_the_repository_is_judged_on_each_pools_gpu(self) -> None:
        result = [{"archive": "example", "repository": "../examples/example/models", "built_on": G6}]
        (message,) = rule_messages(pool_spec(G6, G5, models=result), "FL297", {"plan": PLAN})
        assert message == (
            "instance pool 2: the plans of 'example' were built on ml.g6.xlarge (L4), and ml.g5.xlarge (A10G)"
            " has to load them"
        )

    def test_pools_that_cloudformation_computes_stand_in_place_of_the_type(self) -> None:
        raw = {POOLS: {"Fn::If": ["Large", [], []]}}
        assert case(pool_spec(G6, cloudformation={"EndpointConfig": raw})).context().is_pooled

    @pytest.mark.parametrize("raw", [{}, {POOLS: None}, {"ShadowProductionVariants.0.InstancePools": []}])
    def test_without_pools_of_its_own_the_variant_has_its_type(self, raw: dict[str, Any]) -> None:
        assert not case(pool_spec(G6, cloudformation={"EndpointConfig": raw})).context().is_pooled

    def test_a_type_that_cloudformation_computes_is_not_judged(self) -> None:
        raw = {POOLS: [{"InstanceType": {"Ref": "Type"}, "Priority": 1}]}
        context = case(pool_spec(G6, cloudformation={"EndpointConfig": raw})).context()
        assert [machine.type for machine in context.machines] == [G6]

    def test_more_than_sagemaker_takes_are_not_looked_at(self) -> None:
        raw = {POOLS: [{"InstanceType": f"ml.a{number}.b", "Priority": 1} for number in range(500)]}
        context = case(pool_spec(G6, cloudformation={"EndpointConfig": raw})).context()
        assert len(context.machines) == 6


class TestSummedMetrics:
    """FL348: a target or threshold is one number for all pools, and some metrics add up an instance's parts."""

    MORE = "ml.g5.12xlarge"

    def test_a_target_does_not_fit_a_pool_with_more_gpus(self) -> None:
        scaling = {"min": 1, "max": 2, "gpu_utilization": 60}
        assert rule_messages(pool_spec(G5, self.MORE, scaling=scaling), "FL348") == [
            "instance pool 2: `scaling.gpu_utilization` is for the GPUs of ml.g5.xlarge (1), and ml.g5.12xlarge"
            " has 4: GPUUtilization adds them up"
        ]

    def test_one_of_vcpus_neither(self) -> None:
        scaling = {"min": 1, "max": 2, "cpu_utilization": 60}
        (message,) = rule_messages(pool_spec(G5, "ml.g5.2xlarge", scaling=scaling), "FL348")
        assert "the vCPUs of ml.g5.xlarge (4), and ml.g5.2xlarge has 8: CPUUtilization" in message

    def test_a_target_of_calls_fits_every_pool(self) -> None:
        scaling = {"min": 1, "max": 2, "invocations_per_instance": 60}
        assert rule_messages(pool_spec(G5, self.MORE, scaling=scaling), "FL348") == []

    def test_pools_with_as_many_gpus_share_a_target(self) -> None:
        scaling = {"min": 1, "max": 2, "gpu_utilization": 60}
        assert rule_messages(pool_spec(G5, G6, scaling=scaling), "FL348") == []

    def test_nor_does_the_threshold_of_an_alarm(self) -> None:
        alarms = {"gpu_utilization": {"warning": "80%", "critical": "95%"}, "memory": "90%"}
        (message,) = rule_messages(pool_spec(G5, self.MORE, alarms=alarms), "FL348")
        assert "`alarms.gpu_utilization` is for the GPUs of ml.g5.xlarge (1)" in message

    def test_an_alarm_that_no_metric_stands_behind_is_not_judged(self) -> None:
        assert rule_messages(pool_spec("ml.m5.xlarge", G5, alarms={"gpu_utilization": "80%"}), "FL348") == []

    def test_a_shadow_variant_is_of_its_own(self) -> None:
        scaling = {"min": 1, "max": 2, "gpu_utilization": 60}
        assert rule_messages({**shadow_spec("ml.g6.12xlarge"), "scaling": scaling}, "FL348") == []


class TestEngines:
    def spec(self, *types: str, **engine: Any) -> dict[str, Any]:
        """A spec that builds an engine."""
        request = {"model": "m", "onnx": "../m.onnx", "shapes": {"x": ["1x1", "1x1", "1x1"]}, **engine}
        entry = {"archive": "example", "repository": "../examples/example/models", "engines": [request]}
        return pool_spec(*types, models=[entry])

    def test_an_engine_is_not_loaded_by_a_pool_of_another_gpu(self) -> None:
        assert rule_messages(self.spec(G6, G5), "FL290") == [
            "instance pool 2: the engine of model 'm' is built on ml.g6.xlarge (L4), and ml.g5.xlarge (A10G)"
            " has to load it"
        ]

    def test_pools_of_one_gpu_load_it(self) -> None:
        assert rule_messages(self.spec(G6, "ml.g6.2xlarge"), "FL290") == []

    @pytest.mark.parametrize(
        ("compatibility", "other_text", "count"),
        [
            ("ampere+", G5, 0),
            ("ampere+", "ml.g4dn.xlarge", 1),
            ("same-compute-capability", "ml.g6e.xlarge", 0),
            ("same-compute-capability", G5, 1),
        ],
    )
    def test_a_compatible_engine_is_loaded_by_the_gpus_that_it_is_compatible_with(
        self, compatibility: str, other_text: str, count: int
    ) -> None:
        assert len(rule_messages(self.spec(G6, other_text, compatibility=compatibility), "FL290")) == count


class TestVariants:
    def test_a_shadow_variant_without_a_host_image_has_its_familys_own_driver(self) -> None:
        (problem,) = case(shadow_spec(G5)).problems(rules()["FL204"])
        assert problem.message == (
            "shadow variant b: Triton 25.04 is built for CUDA 12; without a named host image g5 instances"
            " have driver 470"
        )
        assert problem.hint == (
            "write `ShadowProductionVariants.0.InferenceAmiVersion: al2-ami-sagemaker-inference-gpu-3-1`"
        )
        assert problem.path[:2] == ("cloudformation", "EndpointConfig")

    def test_one_whose_familys_driver_is_new_enough_breaks_nothing(self) -> None:
        assert rule_messages(shadow_spec(G6), "FL204") == []

    def test_a_driver_that_nobody_names_is_a_warning(self) -> None:
        (problem,) = case(shadow_spec("ml.g6e.xlarge")).problems(rules()["FL204"])
        assert not problem.certain

    def test_a_host_image_that_it_names_is_judged(self) -> None:
        spec = shadow_spec("ml.p4de.24xlarge", InferenceAmiVersion="al2023-ami-sagemaker-inference-gpu-4-1")
        assert len(rule_messages(spec, "FL222")) == len(rule_messages(spec, "FL223")) == 1
        assert rule_messages(spec, "FL223")[0].startswith(
            "shadow variant b: al2023-ami-sagemaker-inference-gpu-4-1"
        )

    def test_of_a_model_of_others_the_instance_alone_is_judged(self) -> None:
        spec = shadow_spec("ml.m7g.xlarge", ModelName="theirs")
        assert rule_messages(spec, "FL226") == rule_messages(spec, "FL204") == []
        assert len(rule_messages(shadow_spec("ml.g99.xlarge", ModelName="theirs"), "FL203")) == 1

    def test_the_pools_of_a_shadow_variant_are_judged(self) -> None:
        pools = [{"InstanceType": "ml.g99.xlarge", "Priority": 3}]
        raw = {"VariantName": "b", "ModelName": OWN, "InstancePools": pools}
        spec = pool_spec(G6, cloudformation={"EndpointConfig": {"ShadowProductionVariants": [raw]}})
        (message,) = rule_messages(spec, "FL203")
        assert message.startswith(
            "shadow variant b, instance pool 3: the catalog has no instance type ml.g99.xlarge"
        )

    def test_a_raw_instance_type_of_the_own_variant_is_judged(self) -> None:
        raw = {"ProductionVariants.0.InstanceType": "ml.g99.xlarge"}
        spec = pool_spec(G6, cloudformation={"EndpointConfig": raw})
        (message,) = rule_messages(spec, "FL203")
        assert message.startswith(
            "ProductionVariants.0.InstanceType: the catalog has no instance type ml.g99.xlarge"
        )

    def test_a_shadow_variant_is_not_scaled(self) -> None:
        shadow = shadow_spec("ml.t2.medium")
        scaled_spec = {**shadow, "scaling": {"min": 1, "max": 2, "invocations_per_instance": 60}}
        assert rule_messages(scaled_spec, "FL273") == []
        values = pool_spec(G6, "ml.t2.medium", scaling=scaled_spec["scaling"])
        assert rule_messages(values, "FL273") == [
            "instance pool 2: ml.t2.medium is burstable; SageMaker does not scale burstable instances"
        ]
