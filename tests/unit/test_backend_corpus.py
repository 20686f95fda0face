"""Real configurations that a real Triton accepted are refused by no check of their backends."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from fleet.findings import Finding, Severity
from fleet.repository.config.backend import backend_of
from fleet.repository.config.backend_tensors import backend_tensors
from fleet.repository.config.parameters import parameters
from fleet.repository.config.parsed import parsed_config
from fleet_folder import ROOT

CORPUS = ROOT.parent / "shared" / "corpus"
RELEASES = (None, "22.05", "24.10", "25.04", "26.05")
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason=f"the corpus of real configs is not at {CORPUS}")


def errors(file: Path, release: str | None) -> list[Finding]:
    """What the checks of a file's backend refuse."""
    config = parsed_config(file.read_bytes(), file)
    backend = backend_of(config)
    findings = [*parameters(config, backend, release), *backend_tensors(config, backend, release)]
    return [each for each in findings if each.severity is Severity.ERROR]


@pytest.mark.parametrize("release", RELEASES)
def test_no_accepted_configuration_has_an_error(release: str | None) -> None:
    with (CORPUS / "INDEX.tsv").open(encoding="utf-8") as index:
        rows = list(csv.DictReader(index, delimiter="\t"))
    accepted = [
        row["file"]
        for row in rows
        if row["triton_strict"].startswith("CONFIG_OK") and row["kind"] != "qa-invalid"
    ]
    assert len(accepted) > 50
    assert {file: found for file in accepted if (found := errors(CORPUS / file, release))} == {}


def test_what_tritons_own_tests_expect_of_pytorch_is_found() -> None:
    [finding] = errors(CORPUS / "560_qa-invalid_pytorch_too_few_outputs.pbtxt", None)
    assert finding.message == "model configuration must contain at least one output, none were specified."
