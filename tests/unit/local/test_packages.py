"""A package that serves models on this machine, and is not installed, is asked for before anything is started."""

from __future__ import annotations

import re

import pytest

from fleet_emulator.triton_backends import PACKAGES, missing_package
from tests.support.fleet_folder import ROOT
from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.local.limitations import servable
from triton_fleet.project.project import open_project


def skip_work(_: str) -> None:
    """A Python without any package."""


def refusal_finding(*endpoints: str) -> Finding:
    with pytest.raises(FindingsError) as caught:
        servable(open_project(ROOT, "dev", endpoints), is_explicit=True, find=skip_work)
    (finding,) = caught.value.findings
    return finding


def test_an_endpoint_of_torchscript_is_refused_at_its_archive_where_torch_is_not_installed() -> None:
    finding = refusal_finding("resnet-pt")
    assert (finding.code, finding.severity) == ("FL383", Severity.ERROR)
    assert finding.message == (
        "this machine cannot serve 'resnet-pt' (resnet) yet: TorchScript models need torch, which is not installed"
    )
    assert finding.hint == f"`{PACKAGES['pytorch'].install}`, the build for CPUs where your index has one"
    assert finding.file and finding.line
    assert finding.file.read_text().splitlines()[finding.line - 1] == "  - archive: resnet-pt-v0"


def test_the_others_can_be_deployed_without_it() -> None:
    finding = refusal_finding("resnet-pt", "sentence-embeddings")
    assert finding.hint.endswith("; or leave it out: `fleet local up sentence-embeddings`")


def test_where_no_endpoint_is_named_it_is_left_out_with_a_warning() -> None:
    whole_project = open_project(ROOT, "dev")
    project, (finding,) = servable(whole_project, is_explicit=False, find=skip_work)
    assert (finding.code, finding.severity) == ("FL383", Severity.WARNING)
    assert finding.message.endswith("which is not installed; it is left out")
    assert {*whole_project.endpoints} - {*project.endpoints} == {"resnet-pt"}


def test_where_nothing_else_is_left_it_is_refused() -> None:
    with pytest.raises(FindingsError):
        servable(open_project(ROOT, "dev", ["resnet-pt"]), is_explicit=False, find=skip_work)


def test_nothing_is_said_of_other_endpoints_nor_where_it_is_installed() -> None:
    sentences, resnet = (open_project(ROOT, "dev", [text]) for text in ("sentence-embeddings", "resnet-pt"))
    assert servable(sentences, is_explicit=True, find=skip_work) == (sentences, [])
    assert servable(resnet, is_explicit=True, find=lambda name: name) == (resnet, [])


def test_what_the_stand_in_says_in_tritons_log_names_the_package() -> None:
    package = missing_package("pytorch", skip_work)
    assert package is PACKAGES["pytorch"]
    assert package.problem == "TorchScript models need torch, which is not installed"
    assert missing_package("onnxruntime", skip_work) is None


@pytest.mark.parametrize("page", ["tests/README.md", "docs/local.md", "examples/resnet_pt/README.md"])
def test_pages_name_the_version_that_the_command_names(page: str) -> None:
    named_matches = re.findall(r"pip install torch==[\w.]+", (ROOT / page).read_text())
    assert set(named_matches) == {PACKAGES["pytorch"].install}
