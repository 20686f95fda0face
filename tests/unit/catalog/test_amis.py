"""The catalog's host images: which driver a family of instances gets for a container's CUDA."""

from __future__ import annotations

import botocore.session
import pytest

from triton_fleet.catalog.amis import (
    ami,
    amis,
    default_driver,
    families_with_driver,
    inference_ami,
    releases_on,
)
from triton_fleet.catalog.instances import instance, instance_types

CUDA_12 = "al2-ami-sagemaker-inference-gpu-3-1"
CUDA_13 = "al2023-ami-sagemaker-inference-gpu-4-1"
FAMILIES = {instance(name).family for name in instance_types()}


def test_every_host_image_of_the_api_is_in_the_catalog() -> None:
    model = botocore.session.get_session().get_service_model("sagemaker")
    named_text = model.shape_for("ProductionVariantInferenceAmiVersion").enum  # type: ignore[attr-defined]
    assert sorted(ami.name for ami in amis()) == sorted(named_text)


@pytest.mark.parametrize(
    ("cuda", "family", "name"),
    [
        (12, "g4dn", CUDA_12),
        (12, "g5", CUDA_12),
        (12, "g6", CUDA_12),
        (12, "g6e", CUDA_12),
        (12, "p4d", "al2-ami-sagemaker-inference-gpu-2"),
        (12, "p5en", CUDA_12),
        (12, "p3", "al2-ami-sagemaker-inference-gpu-2"),
        (13, "p4d", CUDA_13),
        (13, "g7", CUDA_13),
        (13, "g4dn", CUDA_13),
        (13, "g5", CUDA_13),
        (13, "g6", CUDA_13),
        (13, "g7e", CUDA_13),
        (13, "p6-b200", CUDA_13),
    ],
)
def test_a_family_gets_the_first_host_image_whose_driver_runs_the_container(
    cuda: int, family: str, name: str
) -> None:
    actual_ami = inference_ami(cuda, family)
    assert actual_ami is not None
    assert actual_ami.name == name
    assert actual_ami == ami(name)


@pytest.mark.parametrize("family", ["g4dn", "g5", "p4d", "p4de"])
def test_containers_of_cuda_11_run_on_sagemakers_own_choice_of_driver_470(family: str) -> None:
    ami = inference_ami(11, family)
    assert ami is not None
    assert (ami.name, ami.driver) == ("", "470") == ("", default_driver(family))


@pytest.mark.parametrize(
    ("cuda", "family"),
    [
        (13, "p3"),
        (12, "g7"),
        (12, "g7e"),
        (12, "p6-b200"),
        (12, "p6-b300"),
        (11, "g6e"),
        (12, "p2"),
        (12, "c5"),
        (14, "g6"),
    ],
)
def test_where_no_driver_fits_there_is_no_host_image(cuda: int, family: str) -> None:
    assert inference_ami(cuda, family) is None
    assert family not in families_with_driver(cuda)


def test_what_is_proved_is_kept_apart_from_what_is_not() -> None:
    old, new = ami(CUDA_12), ami(CUDA_13)
    assert old.accepts == ("g4dn", "g5", "g6")
    assert "g6e" in old.unproven
    assert new.accepts == ("g4dn", "g5", "g6", "g6e", "g7", "g7e", "p5", "p6-b200")
    assert new.at_times == ("p4d",)
    assert new.unproven == ("p4de", "p5e", "p5en", "p6-b300")
    assert "g7" in old.refuses


def test_a_family_is_in_one_list_of_a_host_image_and_is_one_of_the_catalog() -> None:
    for host_image in amis():
        named_lines = host_image.accepts + host_image.at_times + host_image.unproven + host_image.refuses
        assert len(named_lines) == len(set(named_lines)), host_image.name
        assert set(named_lines) <= FAMILIES, host_image.name


def test_the_host_image_for_inferentia_has_no_gpu_driver() -> None:
    neuron = ami("al2-ami-sagemaker-inference-neuron-2")
    assert (neuron.gpu, neuron.driver, neuron.cuda) == (False, "", 0)
    assert [ami.name for ami in amis() if not ami.gpu] == [neuron.name]


@pytest.mark.parametrize(("family", "driver"), [("g5", "470"), ("g6", "535"), ("p5en", "550"), ("g7", None)])
def test_the_driver_of_a_family_without_a_named_host_image(family: str, driver: str | None) -> None:
    assert default_driver(family) == driver


def test_driver_470_is_the_default_of_four_families_alone() -> None:
    assert {family for family in FAMILIES if default_driver(family) == "470"} == {"g4dn", "g5", "p4d", "p4de"}


@pytest.mark.parametrize(
    ("machine", "region", "newest"),
    [
        ("ml.g5.xlarge", "us-east-1", "26.05"),
        ("ml.g5.xlarge", "cn-north-1", "25.04"),
        ("ml.c5.xlarge", "us-east-1", "26.05"),
        ("ml.p3.2xlarge", "us-east-1", "24.09"),
        ("ml.inf2.xlarge", "us-east-1", None),
    ],
)
def test_a_release_is_for_an_instance_type_where_region_driver_and_gpu_take_it(
    machine: str, region: str, newest: str | None
) -> None:
    assert next(reversed(releases_on(instance(machine), region)), None) == newest


def test_an_unknown_host_image_is_not_found() -> None:
    with pytest.raises(KeyError):
        ami("al2-ami-sagemaker-inference-gpu-9")
