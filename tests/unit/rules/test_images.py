"""Findings of a host image that a spec names, and of one that nobody has tried."""

from __future__ import annotations

import pytest

from triton_fleet.catalog.amis import ami, amis
from triton_fleet.catalog.images import release, releases
from triton_fleet.rules.example import ARCHIVE_SIZE, REGION, Case
from triton_fleet.rules.registry import rules
from triton_fleet.rules.rule import Problem

CUDA_12 = ("al2-ami-sagemaker-inference-gpu-3-1", "al2-ami-sagemaker-inference-gpu-2-1")
CUDA_13 = "al2023-ami-sagemaker-inference-gpu-4-1"
NEURON = "al2-ami-sagemaker-inference-neuron-2"
CODES = ("FL222", "FL223")


def problems(code: str, triton: str, machine: str, image: str) -> list[Problem]:
    spec = {"triton": triton, "instance": {"type": machine, "ami": image}}
    case = Case(spec=spec, region=REGION, models=None, archive_size=ARCHIVE_SIZE)
    return case.problems(rules()[code])


class TestDriver:
    @pytest.mark.parametrize("image", [*CUDA_12, CUDA_13])
    def test_a_newer_driver_below_a_container_of_cuda_11_is_only_warned_of(self, image: str) -> None:
        (problem,) = problems("FL223", "22.12", "ml.g6.xlarge", image)
        assert not problem.certain
        assert f"has driver {ami(image).driver}" in problem.message
        assert "no public source confirms that it runs there" in problem.message
        assert problem.hint == (
            'leave `ami` out, or try it once and write `allow: {ami-driver-mismatch: "tried on …"}`'
        )

    @pytest.mark.parametrize(
        ("triton", "image"), [("25.04", CUDA_13), ("25.09", CUDA_12[0]), ("25.09", NEURON), ("25.04", NEURON)]
    )
    def test_from_cuda_12_on_host_and_container_are_of_one_generation(self, triton: str, image: str) -> None:
        (problem,) = problems("FL223", triton, "ml.g6.xlarge", image)
        assert problem.certain
        names = [ami.name for ami in amis() if ami.cuda == release(triton).cuda_major]
        assert problem.hint == f"leave `ami` out, or write one of {', '.join(names)}"

    def test_a_host_without_a_driver_is_refused_to_a_container_of_cuda_11_too(self) -> None:
        (problem,) = problems("FL223", "22.12", "ml.g5.xlarge", NEURON)
        assert (problem.certain, problem.hint) == (True, "leave `ami` out")


class TestFamily:
    def test_the_families_that_are_proved_are_named(self) -> None:
        (problem,) = problems("FL222", "25.04", "ml.g6e.xlarge", CUDA_12[0])
        assert problem.hint.endswith("; confirmed: g4dn, g5, g6")

    @pytest.mark.parametrize("machine", ["ml.p4de.24xlarge", "ml.p5en.48xlarge", "ml.p6-b300.48xlarge"])
    def test_what_no_source_confirms_is_a_warning(self, machine: str) -> None:
        (problem,) = problems("FL222", "25.09", machine, CUDA_13)
        assert not problem.certain
        assert problem.message.startswith("no source confirms that the host image")
        assert problem.hint.endswith("; confirmed: g4dn, g5, g6, g6e, g7, g7e, p5, p6-b200")

    def test_a_family_that_sagemaker_refuses_at_times_is_a_warning_that_names_its_answer(self) -> None:
        (problem,) = problems("FL222", "25.09", "ml.p4d.24xlarge", CUDA_13)
        assert not problem.certain
        assert problem.message == (
            f"SageMaker accepts the host image {CUDA_13} on p4d instances, but not at all times"
        )
        assert problem.hint.startswith('if it answers "Invalid combination", deploy again later')

    @pytest.mark.parametrize("machine", ["ml.g5.xlarge", "ml.g7.2xlarge", "ml.g4dn.xlarge"])
    def test_what_is_in_use_is_no_finding(self, machine: str) -> None:
        assert problems("FL222", "25.09", machine, CUDA_13) == []

    @pytest.mark.parametrize("machine", ["ml.g4dn.xlarge", "ml.g6e.xlarge", "ml.p6-b200.48xlarge"])
    def test_of_what_is_proved_nothing_is_said(self, machine: str) -> None:
        assert problems("FL222", "25.09", machine, CUDA_13) == []

    def test_of_a_host_image_without_a_proved_family_nothing_is_named(self) -> None:
        (problem,) = problems("FL222", "25.04", "ml.g6.xlarge", CUDA_12[1])
        assert problem.hint == 'try it once, then write `allow: {incompatible-ami: "tried on …"}`'


@pytest.mark.parametrize("code", CODES)
def test_no_hint_ends_before_what_it_announces(code: str) -> None:
    actual_problems = [
        problem
        for triton in releases()
        for machine in ("ml.g5.xlarge", "ml.g6e.xlarge", "ml.p3.2xlarge", "ml.c5.xlarge")
        for image in [ami.name for ami in amis()]
        for problem in problems(code, triton, machine, image)
    ]
    assert actual_problems
    assert [
        actual_problem.hint
        for actual_problem in actual_problems
        if actual_problem.hint != actual_problem.hint.rstrip(" :,")
    ] == []
