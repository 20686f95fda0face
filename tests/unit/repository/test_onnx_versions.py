"""An ONNX file is as new as the ONNX Runtime of a Triton release reads, or it is refused in its words."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from onnx import helper
from onnxruntime.capi.onnxruntime_inference_collection import InferenceSession
from onnxruntime.capi.onnxruntime_pybind11_state import set_default_logger_severity

from tests.support.broken_repositories import SCALE, Case, graph
from tests.support.onnx_graphs import header_of
from triton_fleet.catalog.data_file import data_file
from triton_fleet.catalog.images import releases
from triton_fleet.catalog.releases import onnx_runtime
from triton_fleet.findings import Finding, Severity
from triton_fleet.repository.contents import OnnxHeader
from triton_fleet.repository.loading.load_plan import plan_load
from triton_fleet.repository.loading.models import ServingContainer
from triton_fleet.repository.onnx.versions import version_problem
from triton_fleet.repository.reading.folder import read

FACTS = data_file("onnxruntime.yaml")


def header(ir: int = 8, **opsets: int) -> OnnxHeader:
    return header_of(graph(["n", 2], ir_version=ir, opsets=opsets or {"": 17}))


def scale_findings(folder: Path, model: bytes, release: str | None) -> list[Finding]:
    Case(id="", files={**SCALE, "scale/1/model.onnx": model}, change="").write(folder / "repository")
    return list(plan_load(read(folder / "repository"), ServingContainer(release=release)).findings)


def test_the_versions_are_read_from_the_file() -> None:
    read_versions = header(9, **{"": 20, "ai.onnx.ml": 3})
    assert (read_versions.ir_version, read_versions.opsets) == (9, (("", 20), ("ai.onnx.ml", 3)))


@pytest.mark.parametrize("release", releases())
def test_each_release_that_has_an_image_has_a_known_onnx_runtime(release: str) -> None:
    assert onnx_runtime(release) is not None


def test_a_release_that_is_newer_than_the_catalog_refuses_nothing() -> None:
    assert onnx_runtime("99.01") is None
    assert version_problem(header(99), "99.01") == ""


def test_newer_releases_read_at_least_what_older_ones_do() -> None:
    limits = [onnx_runtime(release) for release in sorted(FACTS["releases"])]
    as_numbers = [(limit.ir_version, *limit.opsets.values()) for limit in limits if limit is not None]
    assert all(all(old <= new for old, new in zip(*pair, strict=True)) for pair in pairwise(as_numbers))
    assert {version.rpartition(".")[0] for version in FACTS["releases"].values()} == set(FACTS["reads"])


@pytest.mark.parametrize(
    ("release", "ir", "limit"),
    [("22.12", 10, 8), ("23.12", 10, 9), ("24.09", 11, 10), ("24.09", 12, 10), ("25.12", 12, 11)],
)
def test_a_file_format_that_is_too_new_is_refused_in_onnx_runtimes_words(
    release: str, ir: int, limit: int
) -> None:
    expected_text = f"Unsupported model IR version: {ir}, max supported IR version: {limit}"
    assert version_problem(header(ir), release) == expected_text
    assert version_problem(header(limit), release) == ""


@pytest.mark.parametrize(
    ("domain", "version", "limit"), [("", 22, 21), ("ai.onnx", 23, 21), ("ai.onnx.ml", 6, 5)]
)
def test_an_operator_set_that_is_too_new_is_refused_in_onnx_runtimes_words(
    domain: str, version: int, limit: int
) -> None:
    problem = version_problem(header(**{domain: version}), "24.09")
    assert f"Opset {version} is under development and support for this is limited." in problem
    assert problem.endswith(
        f"Current official support for domain {domain or 'ai.onnx'} is till opset {limit}."
    )
    assert version_problem(header(**{domain: limit}), "24.09") == ""


def test_an_operator_set_of_another_domain_has_no_known_limit() -> None:
    assert version_problem(header(**{"": 17, "com.example": 99}), "24.09") == ""


def test_the_words_are_those_of_the_onnx_runtime_that_is_installed() -> None:
    """Its own limits are taken from its messages; the words around them are the same."""
    set_default_logger_severity(4)
    for content in (graph(["n", 2], ir_version=99), graph(["n", 2], opsets={"": 99})):
        with pytest.raises(Exception, match=r"max supported IR version|till opset") as refusal:
            InferenceSession(content, providers=["CPUExecutionProvider"])
        ours, theirs = version_problem(header_of(content), "24.09"), str(refusal.value).strip()
        assert theirs.endswith(ours.rpartition(" ")[0] + " " + theirs.rpartition(" ")[2])


def test_the_finding_names_the_file_the_release_and_the_remedy(tmp_path: Path) -> None:
    (finding,) = scale_findings(tmp_path, graph(["n", 2], ir_version=11), "24.09")
    assert (finding.code, finding.severity) == ("FL477", Severity.ERROR)
    assert finding.file == tmp_path / "repository/scale/1/model.onnx"
    assert finding.message == (
        "unable to load model 'scale': Unsupported model IR version: 11, max supported IR version: 10"
        " (ONNX Runtime 1.19.2 of Triton 24.09)"
    )
    assert finding.hint == "export the model with IR version 10 and opset 21, or use Triton 25.09 or newer"


@pytest.mark.parametrize("release", ["25.09", None])
def test_nothing_is_found_where_the_release_reads_it_or_none_is_named(
    tmp_path: Path, release: str | None
) -> None:
    assert scale_findings(tmp_path, graph(["n", 2], ir_version=11), release) == []


def test_a_model_that_no_known_release_reads_is_to_be_exported_again(tmp_path: Path) -> None:
    (finding,) = scale_findings(tmp_path, graph(["n", 2], opsets={"": 60}), "24.09")
    assert finding.hint == "export the model with IR version 10 and opset 21"


def test_the_table_is_of_models_that_onnx_itself_can_write() -> None:
    """A limit beyond what ONNX has published would be a slip of the pen."""
    newest = max(row[1] for row in helper.VERSION_TABLE)
    assert max(read["ir"] for read in FACTS["reads"].values()) <= newest
