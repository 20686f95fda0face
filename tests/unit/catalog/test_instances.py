"""The catalog's instance types: all of AWS's, each classified, with what the rules ask of them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib.metadata import distribution

import botocore.session
import pytest
from botocore.model import ServiceModel

from triton_fleet.catalog.engines import build_support
from triton_fleet.catalog.instances import (
    Processor,
    Support,
    hosted_in,
    hosting_regions,
    instance,
    instance_types,
    multi_model_support,
)

EXTENSIONS = "cfnlint/data/schemas/extensions"
INSTANCES = [instance(name) for name in instance_types()]


@pytest.fixture(scope="module")
def sagemaker() -> ServiceModel:
    return botocore.session.get_session().get_service_model("sagemaker")


def priced_regions(jobs: str) -> dict[str, set[str]]:
    file = f"{EXTENSIONS}/aws_sagemaker_{jobs}/instancetype_enum.json"
    text = distribution("cfn-lint").locate_file(file).read_text()
    entries = json.loads(text).items()
    return {region: set(entry["enum"]) for region, entry in entries if "enum" in entry}


@pytest.fixture(scope="module")
def regions_by_type() -> dict[str, set[str]]:
    """Types by region, as AWS's price lists for hosting had them when cfn-lint was released."""
    return priced_regions("hosting")


@pytest.fixture(scope="module")
def api_types(sagemaker: ServiceModel) -> set[str]:
    return set(sagemaker.shape_for("ProductionVariantInstanceType").enum)  # type: ignore[attr-defined]


def test_every_type_of_the_api_and_of_the_price_lists_is_classified(
    regions_by_type: dict[str, set[str]], api_types: set[str]
) -> None:
    known_api_types = api_types.union(*regions_by_type.values())
    assert sorted(known_api_types - set(instance_types())) == [], "write these into instances.yaml"
    assert sorted(set(instance_types()) - known_api_types) == [], (
        "AWS has these no more: take them out of instances.yaml"
    )


def test_the_types_that_the_api_refuses_are_marked(api_types: set[str]) -> None:
    texts = [instance.type for instance in INSTANCES if instance.in_api != (instance.type in api_types)]
    assert texts == [], "run `make catalog`"


def test_the_regions_are_those_of_the_price_lists(regions_by_type: dict[str, set[str]]) -> None:
    wrong = [
        f"availability.yaml, {region}, {family}: write {sorted(right)}, not {sorted(written_names)}"
        for region, types in regions_by_type.items()
        for family in sorted({name.split(".")[1] for name in [*types, *hosted_in(region)]})
        if (right := _of(family, types)) != (written_names := _of(family, hosted_in(region)))
    ]
    assert wrong == [], "run `make catalog`"
    assert sorted(
        {region for instance_type in instance_types() for region in hosting_regions(instance_type)}
    ) == sorted(regions_by_type)


def _of(family: str, types: Iterable[str]) -> set[str]:
    return {name for name in types if name.startswith(f"ml.{family}.")}


def test_no_region_hosts_a_retired_type_and_the_api_still_names_it() -> None:
    instances = [instance for instance in INSTANCES if instance.is_retired]
    assert {instance.family for instance in instances} == {"p2", "p3"}
    assert all(instance.in_api and not hosting_regions(instance.type) for instance in instances)


def test_a_region_without_a_price_list_hosts_nothing_that_is_known() -> None:
    assert hosted_in("xx-nowhere-1") == ()


@pytest.mark.parametrize(
    "unknown", ["ml.g5.metal", "ml.gr6.4xlarge", "ml.g5", "g5.xlarge", "ml.g5.xlarge.x", ""]
)
def test_a_type_that_sagemaker_does_not_have_is_not_found(unknown: str) -> None:
    with pytest.raises(KeyError):
        instance(unknown)


def test_the_facts_of_a_gpu_instance() -> None:
    machine = instance("ml.g5.12xlarge")
    assert (machine.gpu, machine.gpus, machine.gpu_memory_mib) == ("A10G", 4, 23028)
    assert (machine.vcpus, machine.memory_gib, machine.nvme_gb) == (48, 192, 3800)
    assert (machine.kind, machine.architecture, machine.compute_capability) == (
        Processor.GPU,
        "x86_64",
        "8.6",
    )


@pytest.mark.parametrize(
    ("machine", "mib"),
    [
        ("ml.g4dn.xlarge", 15360),
        ("ml.g5.xlarge", 23028),
        ("ml.g6.xlarge", 23034),
        ("ml.g6e.xlarge", 46068),
        ("ml.g7.2xlarge", 32623),
        ("ml.g7e.2xlarge", 97887),
        ("ml.p4d.24xlarge", 40960),
        ("ml.p4de.24xlarge", 81920),
        ("ml.p5.4xlarge", 81559),
        ("ml.p5en.48xlarge", 143771),
        ("ml.p6-b200.48xlarge", 183359),
        ("ml.p6-b300.48xlarge", 275040),
    ],
)
def test_the_memory_of_a_gpu_is_what_nvidia_smi_prints(machine: str, mib: int) -> None:
    assert instance(machine).gpu_memory_mib == mib


def test_the_facts_of_a_cpu_instance() -> None:
    machine = instance("ml.t3.nano")
    assert (machine.kind, machine.gpu, machine.gpus, machine.compute_capability) == (Processor.CPU, "", 0, "")
    assert (machine.vcpus, machine.memory_gib, machine.nvme_gb, machine.burstable) == (2, 0.5, 0, True)


def test_gpu_instances_alone_have_gpus() -> None:
    for machine in INSTANCES:
        has = (bool(machine.gpu), machine.gpus > 0, bool(machine.compute_capability))
        assert set(has) == {machine.kind is Processor.GPU}, machine.type


def test_neither_inferentia_nor_trainium_nor_gaudi_is_a_gpu() -> None:
    kinds = {
        instance.family: instance.kind
        for instance in INSTANCES
        if instance.kind not in (Processor.GPU, Processor.CPU)
    }
    assert kinds.pop("dl1") is Processor.GAUDI
    assert set(kinds) == {"inf1", "inf2", "trn1", "trn1n", "trn2"}
    assert set(kinds.values()) == {Processor.NEURON}


def test_graviton_and_grace_run_no_x86_image() -> None:
    arm = {instance.family for instance in INSTANCES if instance.architecture == "arm64"}
    graviton = {
        name for name in {instance.family for instance in INSTANCES} if name[0] in "cmr" and "g" in name
    }
    assert arm == graviton | {"p6e-gb200"}


def test_the_instances_on_cpu_credits_are_burstable() -> None:
    assert {instance.family for instance in INSTANCES if instance.burstable} == {"t2", "t3"}


def test_local_storage_is_where_the_family_says_d_or_the_gpu_is_from_g4dn_on() -> None:
    without = {
        instance.family for instance in INSTANCES if instance.kind is Processor.GPU and not instance.nvme_gb
    }
    assert without == {"p2", "p3", "p6e-gb200"}
    disks = {instance.family for instance in INSTANCES if instance.kind is Processor.CPU and instance.nvme_gb}
    assert disks == {
        instance.family
        for instance in INSTANCES
        if instance.kind is Processor.CPU and instance.family.endswith("d")
    }


def test_multi_model_is_documented_for_cpus_and_for_one_gpu_of_four_families() -> None:
    texts = {instance.type for instance in INSTANCES if multi_model_support(instance).support is Support.YES}
    sizes = ("xlarge", "2xlarge", "4xlarge", "8xlarge", "16xlarge")
    gpus = {"ml.p2.xlarge", "ml.p3.2xlarge"} | {
        f"ml.{family}.{size}" for family in ("g4dn", "g5") for size in sizes
    }
    assert texts == gpus | {instance.type for instance in INSTANCES if instance.kind is Processor.CPU}


@pytest.mark.parametrize(
    ("name", "support", "reason"),
    [
        ("ml.g6.xlarge", Support.UNPROVEN, "does not name this family"),
        ("ml.g5.12xlarge", Support.NO, "on one GPU"),
        ("ml.inf2.xlarge", Support.NO, "on CPU and GPU instances"),
    ],
)
def test_multi_model_elsewhere_is_unproven_or_refused_with_a_reason(
    name: str, support: Support, reason: str
) -> None:
    answer = multi_model_support(instance(name))
    assert answer.support is support
    assert reason in answer.reason


@pytest.mark.parametrize(
    ("way", "shape"), [("processing", "ProcessingInstanceType"), ("training", "TrainingInstanceType")]
)
def test_an_engine_can_be_built_by_a_job_where_the_api_has_the_type(
    sagemaker: ServiceModel, way: str, shape: str
) -> None:
    allowed_names = set(sagemaker.shape_for(shape).enum)  # type: ignore[attr-defined]
    for machine in INSTANCES:
        if machine.kind is not Processor.GPU or machine.is_retired or machine.architecture == "arm64":
            continue
        ways = {build.way: build for build in build_support(machine.family)}
        size = machine.type.rpartition(".")[2]
        text = way in ways and (not ways[way].sizes or size in ways[way].sizes)
        assert text == (machine.type in allowed_names), (
            f"builds.yaml, {machine.family}: see {way} of {machine.type}"
        )


def test_processing_is_not_offered_where_it_is_not_sold(regions_by_type: dict[str, set[str]]) -> None:
    names = priced_regions("processing")
    for family in {instance_type.family for instance_type in INSTANCES}:
        for build in build_support(family):
            if build.way == "processing":
                hosting = {region for region in regions_by_type if _of(family, regions_by_type[region])}
                regions = {region for region in hosting if _of(family, names.get(region, set()))}
                assert set(build.not_in) == hosting - regions, family


def test_a_family_without_a_gpu_has_no_job_that_builds_engines() -> None:
    assert [build.way for build in build_support("g5")] == ["processing", "training"]
    assert build_support("c5") == ()
