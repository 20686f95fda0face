"""`fleet check` of an endpoint judges its repositories as its container would take them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fleet_folder import SPEC, FleetFolder
from triton_fleet.check.run import all_findings, checked_fleet
from triton_fleet.findings import FindingsError, Severity
from triton_fleet.project.project import open_project
from triton_fleet.store.lock import write_locks

CONFIG = "repository/embed/config.pbtxt"
BROKEN_CONFIG = 'backend: "python"\ninstance_group { kind: KIND_CPU gpus: 0 }\n'


def locked_with(folder: FleetFolder, config: str) -> Path:
    folder.lock()
    file = folder.write(CONFIG, config)
    write_locks(open_project(folder.root, "dev"))
    return file


def test_what_triton_would_refuse_is_told_at_the_line_of_the_configuration(folder: FleetFolder) -> None:
    file = locked_with(folder, BROKEN_CONFIG)
    assert [(finding.code, finding.file, finding.line) for finding in folder.check()] == [("FL425", file, 2)]


def test_a_deploy_stops_at_it(folder: FleetFolder) -> None:
    locked_with(folder, BROKEN_CONFIG)
    with pytest.raises(FindingsError) as refusal:
        checked_fleet(open_project(folder.root, "dev"))
    assert [finding.code for finding in refusal.value.findings] == ["FL425"]
    assert checked_fleet(open_project(folder.root, "dev"), trusts_locks=True).endpoints


@pytest.mark.parametrize("name", ["invalid-instance-group", "FL425"])
def test_a_spec_may_allow_it_with_a_reason(folder: FleetFolder, name: str) -> None:
    locked_with(folder, BROKEN_CONFIG)
    folder.spec(f'allow: {{{name}: "loads on our own image, see PR 12"}}\n')
    assert folder.check() == []


def test_an_allowance_for_nothing_is_a_warning(folder: FleetFolder) -> None:
    folder.lock()
    folder.spec('allow: {invalid-instance-group: "loads on our own image, see PR 12"}\n')
    assert [(finding.code, finding.severity) for finding in folder.check()] == [("FL130", Severity.WARNING)]


def test_a_mistake_is_told_once_and_where_it_stands(folder: FleetFolder) -> None:
    file = locked_with(folder, "backend: python\n")
    assert [(finding.code, finding.file, finding.line) for finding in folder.check()] == [("FL415", file, 1)]


STEP = """\
platform: "ensemble"
ensemble_scheduling { step [ { model_name: "gone" input_map { key: "x" value: "x" } } ] }
"""
MISTAKES = {
    "chain/config.pbtxt": STEP,
    "code/config.pbtxt": 'backend: "python"\n',
    "code/1/notes.txt": "",
    "empty/config.pbtxt": 'backend: "onnxruntime"\n',
    "renamed/config.pbtxt": 'name: "other" backend: "python"\n',
    "renamed/1/model.py": "class TritonPythonModel: pass\n",
    "typo/config.pbtxt": "instanc_group [ { count: 1 } ]\n",
    "typo/1/model.py": "",
}


def test_all_mistakes_of_a_repository_are_shown_at_once_and_each_in_one_finding(folder: FleetFolder) -> None:
    for path, content in MISTAKES.items():
        folder.write(f"repository/{path}", content)
    repository, places = folder.root / "repository", list[tuple[str, str]]()
    for finding in folder.check():
        if finding.file and finding.file.is_relative_to(repository):
            places.append((finding.code, finding.file.relative_to(repository).parts[0]))
    expected_texts = [
        ("FL404", "empty"),
        ("FL410", "code"),
        ("FL411", "renamed"),
        ("FL415", "typo"),
        ("FL435", "chain"),
    ]
    assert [places.count(expected_text) for expected_text in expected_texts] == [1] * len(expected_texts)
    assert {"FL255", "FL289", "FL247"}.isdisjoint(finding.code for finding in folder.check())


def test_by_its_lock_alone_a_model_is_still_known_to_be_wrong(folder: FleetFolder) -> None:
    locked_with(folder, "backend: python\n")
    project = open_project(folder.root, "dev")
    assert [finding.code for finding in all_findings(project, trusts_locks=True)] == ["FL255"]


@pytest.mark.parametrize("code", ["FL247", "FL435"])
def test_what_a_lock_alone_shows_and_what_the_file_shows_are_allowed_together(
    folder: FleetFolder, code: str
) -> None:
    folder.write("repository/chain/config.pbtxt", STEP)
    folder.spec("default_model: chain\n")
    locked_with(folder, 'backend: "python"\n')
    project = open_project(folder.root, "dev")
    assert "FL435" in {finding.code for finding in all_findings(project)}
    assert [finding.code for finding in all_findings(project, trusts_locks=True)] == ["FL247"]
    folder.spec(f'default_model: chain\nallow: {{{code}: "our image has it, see PR 12"}}\n')
    project = open_project(folder.root, "dev")
    assert {"FL247", "FL435", "FL130"}.isdisjoint(finding.code for finding in all_findings(project))
    assert all_findings(project, trusts_locks=True) == []


def test_without_a_comparison_no_weights_are_read_and_each_mistake_is_shown_once(folder: FleetFolder) -> None:
    file = locked_with(folder, "backend: python\n")
    file.with_name("1").joinpath("model.py").write_text("class TritonPythonModel: y = 2\n")
    findings = all_findings(open_project(folder.root, "dev"), compares_locks=False)
    assert [(finding.code, finding.file) for finding in findings] == [("FL415", file)]


def test_hidden_folders_are_left_out_as_they_are_when_it_is_packed(folder: FleetFolder) -> None:
    folder.write("repository/.ipynb_checkpoints/x.py", "")
    folder.write("repository/embed/.cache/a\x01b", "")
    folder.lock()
    assert folder.check() == []


def moved_outside(folder: FleetFolder, manner: str) -> Path:
    """The repository, which a path, a link or an absolute path leads to."""
    outside = folder.root.parent / f"{folder.root.name}-models"
    (folder.root / "repository").rename(outside)
    if manner == "link":
        (folder.root / "repository").symlink_to(outside)
    else:
        named_text = str(outside) if manner == "absolute" else f"../../{outside.name}"
        folder.spec(base=SPEC.replace("../repository", named_text))
    return outside


@pytest.mark.parametrize("manner", ["relative", "absolute", "link"])
@pytest.mark.parametrize("allow", ["", 'allow: {input-outside-work-tree: "the monorepo next to it"}\n'])
def test_a_repository_outside_of_the_reviewed_tree_is_an_error_that_no_spec_can_allow(
    folder: FleetFolder, manner: str, allow: str
) -> None:
    folder.lock()
    outside = moved_outside(folder, manner)
    file = folder.root / "model_specs/sentences.yaml"
    file.write_text(file.read_text() + allow)
    findings = [finding for finding in folder.check() if finding.code == "FL471"]
    assert [(finding.severity, finding.file, finding.line) for finding in findings] == [
        (Severity.ERROR, file, 5)
    ]
    assert f"leads to {outside}, outside of {folder.root}:" in findings[0].message
    assert ("FL131" in {finding.code for finding in folder.check()}) == bool(allow)
    with pytest.raises(FindingsError) as refusal:
        checked_fleet(open_project(folder.root, "dev"))
    assert "FL471" in {finding.code for finding in refusal.value.findings}


def test_no_lock_is_written_of_one(folder: FleetFolder) -> None:
    folder.lock()
    moved_outside(folder, "link")
    before = (folder.root / "locks/dev/sentences.lock.yaml").read_bytes()
    with pytest.raises(FindingsError) as refusal:
        write_locks(open_project(folder.root, "dev"))
    assert [finding.code for finding in refusal.value.findings] == ["FL471"]
    assert (folder.root / "locks/dev/sentences.lock.yaml").read_bytes() == before


@pytest.mark.parametrize("name", [".git", ".fleet"])
def test_a_repository_in_what_no_commit_holds_is_one(folder: FleetFolder, name: str) -> None:
    folder.lock()
    (folder.root / name).mkdir()
    (folder.root / "repository").rename(folder.root / name / "models")
    folder.spec(base=SPEC.replace("../repository", f"../{name}/models"))
    (finding,) = folder.check()
    assert (finding.code, finding.severity) == ("FL471", Severity.ERROR)
    assert f"into {name}, which no commit holds" in finding.message


def test_a_git_work_tree_around_the_fleet_is_the_reviewed_tree(folder: FleetFolder) -> None:
    folder.lock()
    moved_outside(folder, "relative")
    (folder.root.parent / ".git").mkdir()
    assert folder.check() == []
