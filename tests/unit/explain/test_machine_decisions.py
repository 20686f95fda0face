"""Images and instances in `fleet show`: what was chosen, what it costs, how many there are."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import SPEC, FleetFolder
from tests.support.spec_decisions import decisions_by_key, on

SCALING_KEYS = "scaling: {min: 0, max: 3, gpu_utilization: 33.3, invocations_per_instance: 1234567}\n"


class TestImage:
    def test_the_release_says_what_is_inside_and_what_of_that_is_not_proved(
        self, folder: FleetFolder
    ) -> None:
        decisions = decisions_by_key(folder)
        assert (decisions["CUDA"].value, decisions["CUDA"].certain) == ("12.9.0", True)
        assert (decisions["TensorRT"].value, decisions["TensorRT"].certain) == ("10.9.0.34", False)
        assert "account 763104351884 has release 25.04 in us-east-1" in decisions["image"].reason

    def test_what_no_source_says_is_not_known(self, folder: FleetFolder) -> None:
        decisions = on(folder, "ml.g6.xlarge", "26.03")
        assert (decisions["TensorRT"].value, decisions["image"].certain) == ("not known", False)

    def test_without_a_gpu_it_is_the_image_for_cpus(self, folder: FleetFolder) -> None:
        decisions = on(folder, "ml.c5.xlarge")
        assert (decisions["image"].value or "").endswith("25.04-py3-cpu")
        assert "that for CPUs" in decisions["image"].reason
        assert (decisions["GPU"].value, decisions["local storage"].value) == ("none", "none")

    def test_a_release_without_one_is_undecided_and_the_rest_is_still_shown(
        self, folder: FleetFolder
    ) -> None:
        decisions = on(folder, "ml.g5.xlarge", "24.10")
        assert (decisions["image"].value, decisions["host image"].value) == (None, None)
        assert decisions["image"].reason == "SageMaker has no image of Triton 24.10"
        assert decisions["GPU"].value == "1 x A10G of 23028 MiB, compute capability 8.6"

    def test_a_region_without_one_is_named(self, folder: FleetFolder) -> None:
        folder.spec(base=SPEC.replace("25.04", "26.05"))
        file = folder.root / "environments/dev.yaml"
        file.write_text(file.read_text().replace("us-east-1", "cn-north-1"))
        assert (
            decisions_by_key(folder)["image"].reason == "SageMaker has no image of Triton 26.05 in cn-north-1"
        )


class TestHostImage:
    @pytest.mark.parametrize(
        ("instance", "release", "value", "reason"),
        [
            ("ml.g5.xlarge", "25.04", "al2-ami-sagemaker-inference-gpu-3-1", "driver 470, is too old; al2-"),
            ("ml.g6.xlarge", "25.04", "al2-ami-sagemaker-inference-gpu-3-1", "driver 535, would do as well"),
            (
                "ml.g6e.xlarge",
                "25.04",
                "al2-ami-sagemaker-inference-gpu-3-1",
                "the default driver of g6e instances is unknown",
            ),
            ("ml.g6.xlarge", "25.09", "al2023-ami-sagemaker-inference-gpu-4-1", "have driver 580 or newer"),
            (
                "ml.g5.xlarge",
                "22.12",
                "SageMaker's own choice",
                "which runs on driver 470, the default of g5",
            ),
            ("ml.c5.xlarge", "25.04", "SageMaker's own choice", "has no NVIDIA GPU"),
            ("ml.g7e.2xlarge", "25.04", None, "no host image gives g7e instances a driver for it"),
            ("ml.zz9.xlarge", "25.04", None, "which cannot both be decided"),
            (
                "ml.g5.xlarge, ami: al2-gpu-2-1",
                "25.04",
                None,
                "names al2-gpu-2-1, which the catalog does not",
            ),
            (
                "ml.g7e.2xlarge, ami: al2-ami-sagemaker-inference-gpu-3-1",
                "25.09",
                "al2-ami-sagemaker-inference-gpu-3-1",
                "driver 550, for CUDA 12; Triton 25.09 is built for CUDA 13.0.1; SageMaker refuses it for g7e",
            ),
        ],
    )
    def test_it_is_explained_by_the_drivers_that_container_and_family_have(
        self, folder: FleetFolder, instance: str, release: str, value: str | None, reason: str
    ) -> None:
        decision = on(folder, instance, release)["host image"]
        assert decision.value == value
        assert reason in decision.reason

    def test_a_family_that_no_source_names_is_not_proved(self, folder: FleetFolder) -> None:
        assert not on(folder, "ml.g6e.xlarge")["host image"].certain
        assert on(folder, "ml.g6.xlarge")["host image"].certain

    def test_what_the_spec_allows_itself_is_told_as_it_is_deployed(self, folder: FleetFolder) -> None:
        decision = on(folder, "ml.g7e.2xlarge", "25.04", 'allow: {missing-driver: "tried on 3 May"}\n')[
            "host image"
        ]
        assert folder.resolve().ami is None
        assert decision.value == "SageMaker's own choice"
        assert "`allow` accepts missing-driver" in decision.reason


class TestRawInstances:
    def test_the_types_that_raw_properties_bring_in_are_told(self, folder: FleetFolder) -> None:
        pools = "[{InstanceType: ml.g6.xlarge, Priority: 1}, {InstanceType: ml.g5.xlarge, Priority: 2}]"
        raw = f"cloudformation: {{EndpointConfig: {{ProductionVariants.0.InstancePools: {pools}}}}}\n"
        instance = on(folder, "ml.g6.xlarge", text=raw)["instance"]
        assert instance.reason == "from `instance.count` and `instance.type`; instance pool 2: ml.g5.xlarge"


class TestPriceAndScaling:
    def test_a_price_is_of_all_instances_from_the_fewest_on(self, folder: FleetFolder) -> None:
        decision = on(folder, "ml.g5.xlarge", text=SCALING_KEYS)["price per hour"]
        assert (decision.value, decision.certain) == ("0.00 to 4.22 USD", True)
        assert on(folder, "ml.g5.xlarge, count: 2")["price per hour"].value == "2.82 USD"

    def test_a_price_is_of_the_range_that_schedules_leave(self, folder: FleetFolder) -> None:
        scaled_text = SCALING_KEYS.replace("}", ", schedules: [{name: day, at: rate(1 day), max: 5}]}")
        assert on(folder, "ml.g5.xlarge", text=scaled_text)["price per hour"].value == "0.00 to 7.04 USD"

    def test_a_computed_price_is_of_the_region_and_says_so(self, folder: FleetFolder) -> None:
        file = folder.root / "environments/dev.yaml"
        file.write_text(file.read_text().replace("us-east-1", "eu-west-1"))
        decision = on(folder, "ml.c5.large")["price per hour"]
        assert decision.value == "~0.12 USD"
        assert (
            decision.reason
            == "1 x 0.1152 USD on demand in eu-west-1; computed from EC2's price of the same size and region"
        )
        assert not decision.certain

    def test_a_price_of_the_fleets_own_file_is_shown_in_its_currency(self, folder: FleetFolder) -> None:
        prices = "date: 2026-11-01\ncurrency: EUR\nprices: {us-east-1: {ml.g5.xlarge: 0.9}}\n"
        folder.write("prices.yaml", prices)
        decision = on(folder, "ml.g5.xlarge")["price per hour"]
        assert (decision.value, decision.certain, decision.facts) == ("0.90 EUR", True, ())
        assert decision.reason == "1 x 0.9 EUR on demand in us-east-1; prices.yaml of 2026-11-01 states it"

    def test_an_unknown_price_is_unknown_and_what_to_write_is_named(self, folder: FleetFolder) -> None:
        decision = on(folder, "ml.p6-b200.48xlarge")["price per hour"]
        assert decision.value == "unknown"
        assert decision.reason == (
            "the catalog has no price of ml.p6-b200.48xlarge in us-east-1; write its price per hour into"
            " prices.yaml at the top of the fleet, with a `date` and"
            " `prices: {us-east-1: {ml.p6-b200.48xlarge: PRICE}}`"
        )

    def test_a_gpu_target_is_that_of_one_gpu_times_the_machines(self, folder: FleetFolder) -> None:
        decisions = on(folder, "ml.g5.12xlarge", text=SCALING_KEYS)
        target = decisions["target of GPUUtilization (/aws/sagemaker/Endpoints)"]
        assert target.value == "133.2 Percent"
        assert target.reason.startswith("33.3 % of one GPU x 4")
        assert decisions["target of InvocationsPerInstance (AWS/SageMaker)"].value == "1234567"

    @pytest.mark.parametrize("instance", ["ml.c5.xlarge", "ml.zz9.xlarge"])
    def test_without_a_gpu_its_target_is_undecided(self, folder: FleetFolder, instance: str) -> None:
        decisions = on(folder, instance, text=SCALING_KEYS)
        assert decisions["target of GPUUtilization (/aws/sagemaker/Endpoints)"].value is None

    @pytest.mark.parametrize(("release", "certain"), [("25.04", True), ("25.09", False), ("23.12", False)])
    def test_a_cold_start_stands_beside_the_range_and_is_certain_where_it_was_measured(
        self, folder: FleetFolder, release: str, certain: bool
    ) -> None:
        decision = on(folder, "ml.g4dn.xlarge", release, text=SCALING_KEYS)["a new instance answers after"]
        assert (decision.value, decision.certain) == ("about 12 minutes", certain)
        assert "27.7 GB unpacked" in decision.reason

    def test_without_scaling_the_count_stays(self, folder: FleetFolder) -> None:
        assert on(folder, "ml.g5.xlarge, count: 2")["instances"].value == "2"
