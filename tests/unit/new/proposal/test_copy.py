"""`fleet new NAME --from-spec OTHER`: another endpoint's spec as it was written, under a new name."""

from __future__ import annotations

import difflib

import pytest

from tests.support.fleet_folder import FleetFolder
from triton_fleet.findings import FindingsError
from triton_fleet.new.proposal.writer import new_file, projects_with, write_spec
from triton_fleet.new.proposal.yaml_text import copied_spec
from triton_fleet.project.project import Fleet, open_project

COPIES = """\
# What this is.
endpoint: 'sentences'   # public
mode: multi-model
triton: "25.04"
instance: {type: ml.g5.xlarge}
models:
  # The sentences of sentences.
  - {archive: sentences, copies: 2, repository: ../repository}   # twice
  - archive: words
    repository: ../repository
warm: [sentences-1, words]
samples:
  - {name: sentences, target: sentences-0, inputs: {x: {datatype: FP32, shape: [1], data: 1}}}
"""


def changes(folder: FleetFolder, text: str, name: str) -> list[str]:
    """The lines of the copy that are others than in the spec, and those in whose place they are."""
    folder.spec(base=text)
    copy = copied_spec(open_project(folder.root, "dev").load("sentences"), name)
    lines = difflib.ndiff(text.splitlines(), copy.splitlines())
    return [line for line in lines if line.startswith(("+", "-"))]


def test_the_endpoint_its_archive_and_what_names_that_get_the_new_name(folder: FleetFolder) -> None:
    assert changes(folder, COPIES, "other") == [
        "- endpoint: 'sentences'   # public",
        "+ endpoint: other   # public",
        "-   - {archive: sentences, copies: 2, repository: ../repository}   # twice",
        "+   - {archive: other, copies: 2, repository: ../repository}   # twice",
        "- warm: [sentences-1, words]",
        "+ warm: [other-1, words]",
        "-   - {name: sentences, target: sentences-0, inputs: {x: {datatype: FP32, shape: [1], data: 1}}}",
        "+   - {name: sentences, target: other-0, inputs: {x: {datatype: FP32, shape: [1], data: 1}}}",
    ]


def test_an_archive_of_another_name_keeps_it(folder: FleetFolder) -> None:
    text = 'endpoint: sentences\ntriton: "25.04"\ninstance: {type: ml.g5.xlarge}\nmodels: [{archive: a, repository: ../repository}]\n'
    assert changes(folder, text, "b") == ["- endpoint: sentences", "+ endpoint: b"]


def test_a_name_that_yaml_takes_for_a_number_is_put_in_quotes(folder: FleetFolder) -> None:
    text = 'endpoint: sentences\ntriton: "25.04"\ninstance: {type: ml.g5.xlarge}\nmodels: [{archive: a, repository: ../repository}]\n'
    assert changes(folder, text, "2026") == ["- endpoint: sentences", '+ endpoint: "2026"']


def test_the_copy_passes_the_check(folder: FleetFolder) -> None:
    folder.lock()
    file, projects = new_file(folder.root, "other"), projects_with(Fleet(folder.root), "other")
    write_spec(file, copied_spec(projects[0].load("sentences"), "other"), projects)
    assert [finding.code for finding in folder.check("dev", "other")] == ["FL301"]
    assert not list(file.parent.glob(".*"))


def test_a_copy_that_does_not_hold_in_an_environment_is_not_written(folder: FleetFolder) -> None:
    folder.lock()
    folder.spec("scaling: {min: 1, max: 2, gpu_utilization: 60}\n")
    folder.environment("overrides: {other: {instance: {type: ml.c5.xlarge}}}\n")
    file, projects = new_file(folder.root, "other"), projects_with(Fleet(folder.root), "other")
    before = set(file.parent.iterdir())
    with pytest.raises(FindingsError, match="FL272: ml.c5.xlarge has no metric for `gpu_utilization`"):
        write_spec(file, copied_spec(projects[0].load("sentences"), "other"), projects)
    assert set(file.parent.iterdir()) == before


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Sentences", "FL123: model_specs/sentences.yaml exists already"),
        ("a b", 'FL112: `endpoint` is "a b"'),
        ("../a", 'FL112: `endpoint` is "../a"'),
        ("", 'FL112: `endpoint` is ""'),
        ("a" * 64, "FL112: `endpoint` is "),
    ],
)
def test_a_name_that_is_taken_or_none_is_refused(folder: FleetFolder, name: str, message: str) -> None:
    with pytest.raises(FindingsError) as refusal:
        new_file(folder.root, name)
    assert message in str(refusal.value)


def test_a_file_that_appears_meanwhile_is_not_written_over(folder: FleetFolder) -> None:
    folder.lock()
    file, projects = new_file(folder.root, "other"), projects_with(Fleet(folder.root), "other")
    text = copied_spec(projects[0].load("sentences"), "other")
    file.write_text("somebody else's")
    with pytest.raises(FindingsError, match=r"FL123: model_specs/other.yaml exists already"):
        write_spec(file, text, projects)
    assert file.read_text() == "somebody else's"
