"""Engines that a spec cannot have, told before anything is built."""

from __future__ import annotations

import runpy
from typing import Any

import pytest

from triton_fleet.builds.script import SOURCES
from triton_fleet.findings import Severity
from triton_fleet.rules.about.engine_builds import MIN_PYTHON
from triton_fleet.rules.example import ARCHIVE_SIZE, REGION, Case
from triton_fleet.rules.registry import rules


def case_of(
    *, triton: str = "25.04", machine: str = "ml.g5.xlarge", region: str = REGION, **keys: Any
) -> Case:
    """An endpoint with one engine, of a model that batches up to 8."""
    engine = {"model": "bert", "onnx": "bert.onnx", **keys}
    spec = {
        "triton": triton,
        "instance": {"type": machine},
        "models": [{"archive": "bert", "repository": "../bert", "engines": [engine]}],
    }
    facts = {"bert": {"backend": "tensorrt", "max_batch_size": 8}}
    return Case(spec=spec, region=region, models=facts, archive_size=ARCHIVE_SIZE)


def finding_rows(code: str, **keys: Any) -> list[tuple[str, Severity]]:
    """Messages of one rule."""
    return [(finding.message, finding.severity) for finding in case_of(**keys).findings(rules()[code])]


class TestOptions:
    @pytest.mark.parametrize(
        ("triton", "keys"),
        [
            ("24.05", {"precision": "int4"}),
            ("24.01", {"precision": "bf16"}),
            ("24.09", {"compatibility": "same-compute-capability"}),
            ("23.03", {"compatibility": "ampere+"}),
        ],
    )
    def test_what_the_images_tensorrt_does_not_have_yet_is_refused(
        self, triton: str, keys: dict[str, str]
    ) -> None:
        [(message, severity)] = finding_rows("FL291", triton=triton, **keys)
        assert f"the image of Triton {triton} has" in message and severity is Severity.ERROR

    def test_a_release_that_may_have_tensorrt_11_is_doubted_for_its_precision(self) -> None:
        [(message, severity)] = finding_rows("FL291", triton="26.05", precision="fp16")
        assert message == (
            "the image of Triton 26.05 may have TensorRT 11.1.0.106, which does not accept `precision`: layers have the"
            " types of the ONNX model"
        )
        assert severity is Severity.WARNING
        assert finding_rows("FL291", triton="26.05") == []

    def test_int8_without_scales_is_doubted(self) -> None:
        [(message, severity)] = finding_rows("FL396", precision="int8")
        assert "random numbers" in message and severity is Severity.WARNING
        assert finding_rows("FL396", precision="fp16") == []

    @pytest.mark.parametrize("value", ["ampere+", "same-compute-capability"])
    def test_compatibility_is_told_with_its_price(self, value: str) -> None:
        [(message, severity)] = finding_rows("FL394", compatibility=value)
        assert message.startswith(f"`compatibility: {value}` has a price: slower")
        assert severity is Severity.WARNING

    @pytest.mark.parametrize(
        ("size", "count"), [("14000MiB", 0), ("15359MiB", 0), ("15360MiB", 1), ("16GiB", 1)]
    )
    def test_a_workspace_of_the_whole_gpu_bounds_nothing(self, size: str, count: int) -> None:
        assert len(finding_rows("FL390", machine="ml.g4dn.xlarge", workspace=size)) == count

    def test_no_workspace_exceeds_a_gpu_whose_memory_nothing_says(self) -> None:
        assert finding_rows("FL390", machine="ml.p6e-gb200.36xlarge", triton="25.09") == []


class TestTargets:
    @pytest.mark.parametrize(
        ("machine", "region", "triton", "message"),
        [
            ("ml.p3.2xlarge", REGION, "24.09", "no SageMaker job can build engines for ml.p3.2xlarge"),
            ("ml.p6e-gb200.36xlarge", REGION, "25.09", "has a CPU of arm64"),
        ],
    )
    def test_an_impossible_target_is_refused(
        self, machine: str, region: str, triton: str, message: str
    ) -> None:
        [(row, severity)] = finding_rows("FL295", machine=machine, region=region, triton=triton)
        assert message in row and severity is Severity.ERROR

    @pytest.mark.parametrize(
        ("machine", "region"), [("ml.g4dn.xlarge", "ap-northeast-3"), ("ml.g5.xlarge", REGION)]
    )
    def test_a_family_is_built_for_by_the_next_service_that_has_it(self, machine: str, region: str) -> None:
        assert finding_rows("FL295", machine=machine, region=region) == []

    @pytest.mark.parametrize("triton", ["22.05", "23.02", "23.03", "23.05"])
    def test_an_image_whose_python_does_not_run_the_build_script_is_refused(self, triton: str) -> None:
        [(message, severity)] = finding_rows("FL399", triton=triton)
        assert message == (
            f"the image of Triton {triton} has Python 3.8; the script that builds engines needs 3.10"
        )
        assert severity is Severity.ERROR
        assert finding_rows("FL399", triton="23.06") == finding_rows("FL399", triton="25.04") == []

    def test_the_least_python_is_the_build_scripts_own(self) -> None:
        min_python = runpy.run_path(str(SOURCES / "__main__.py"))["MIN_PYTHON"]
        assert ".".join(map(str, min_python)) == MIN_PYTHON

    def test_a_cpu_is_left_to_the_rule_that_wants_a_gpu(self) -> None:
        assert finding_rows("FL295", machine="ml.c5.xlarge") == []
        assert finding_rows("FL290", machine="ml.c5.xlarge")
