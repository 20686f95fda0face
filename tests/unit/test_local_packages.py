"""A package that serves models on this machine, and is not installed, is asked for before anything is started."""

from __future__ import annotations

from fleet.findings import Finding, Severity
from fleet.local.packages import PACKAGES, missing_package
from fleet.local.unserved import unserved
from fleet.spec.project import open_project
from fleet_folder import ROOT


def nothing(_: str) -> None:
    """A Python without any package."""


def found(*endpoints: str) -> list[Finding]:
    return unserved(open_project(ROOT, "dev", endpoints), find=nothing)


def test_an_endpoint_of_torchscript_is_refused_at_its_archive_where_torch_is_not_installed() -> None:
    [told] = found("resnet-pt")
    assert (told.code, told.severity) == ("FL383", Severity.ERROR)
    assert told.message == (
        "this machine cannot serve 'resnet-pt' (resnet) yet: TorchScript models need torch, which is not installed"
    )
    assert told.hint == "`pip install torch==2.13.0`, the build for CPUs where your index has one"
    assert told.file and told.line
    assert told.file.read_text().splitlines()[told.line - 1] == "  - archive: resnet-pt-v0"


def test_the_others_can_be_deployed_without_it() -> None:
    [told] = found("resnet-pt", "sentence-embeddings")
    assert told.hint.endswith("; or leave it out: `fleet local up sentence-embeddings`")


def test_nothing_is_said_of_other_endpoints_nor_where_it_is_installed() -> None:
    assert found("sentence-embeddings") == []
    assert unserved(open_project(ROOT, "dev", ["resnet-pt"]), find=lambda name: name) == []


def test_what_the_stand_in_says_in_tritons_log_names_the_package() -> None:
    package = missing_package("pytorch", nothing)
    assert package is PACKAGES["pytorch"]
    assert package.missing == "TorchScript models need torch, which is not installed"
    assert missing_package("onnxruntime", nothing) is None
