"""Paths of a spec are reviewed with it: images and ONNX models as repositories are."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.fleet_folder import SPEC, FleetFolder
from tests.support.image_builds import START
from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.project.project import open_project
from triton_fleet.store.images.source import image_sources

ALLOW_KEY = 'allow: {input-outside-work-tree: "we know it", fleet-as-build-context: "and that"}\n'


def refusal(folder: FleetFolder) -> Finding:
    """Why no image is built."""
    with pytest.raises(FindingsError) as refusal_info:
        image_sources(open_project(folder.root, "dev"))
    (finding,) = refusal_info.value.findings
    return finding


def checked_paths(folder: FleetFolder) -> set[str]:
    findings = folder.check()
    return {finding.code for finding in findings if finding.severity is Severity.ERROR}


@pytest.fixture
def outside(folder: FleetFolder) -> Path:
    """A folder with a Dockerfile beside the fleet."""
    outside = folder.root.parent / f"{folder.root.name}-secret"
    outside.mkdir()
    (outside / "Dockerfile").write_text(START)
    (outside / "password.txt").write_text("hunter2")
    return outside


@pytest.mark.parametrize("manner", ["relative", "absolute", "link"])
def test_no_image_is_built_of_a_folder_outside_of_the_reviewed_tree(
    folder: FleetFolder, outside: Path, manner: str
) -> None:
    build = {"relative": f"../../{outside.name}", "absolute": str(outside), "link": "../images/s"}[manner]
    if manner == "link":
        (folder.root / "images").mkdir()
        (folder.root / "images/s").symlink_to(outside)
    folder.spec(f"image: {{build: {build}}}\n{ALLOW_KEY}")
    finding = refusal(folder)
    assert (finding.code, finding.severity, finding.line) == ("FL471", Severity.ERROR, 6)
    assert f"leads to {outside}, outside of {folder.root}:" in finding.message
    assert checked_paths(folder) >= {"FL471", "FL131"}


@pytest.mark.parametrize("build", ["..", "../../fleet", "../model_specs/.."])
def test_no_image_is_built_of_the_whole_fleet(folder: FleetFolder, build: str) -> None:
    folder.write("Dockerfile", START)
    build = build.replace("../../fleet", f"../../{folder.root.name}")
    folder.spec(f"image: {{build: {build}}}\n{ALLOW_KEY}")
    finding = refusal(folder)
    assert (finding.code, finding.severity) == ("FL945", Severity.ERROR)
    assert f"a folder with all of {folder.root}" in finding.message
    assert checked_paths(folder) >= {"FL945", "FL131"}


def test_no_image_is_built_of_the_whole_repository_around_the_fleet(folder: FleetFolder) -> None:
    top = folder.root.parent
    (top / ".git").mkdir()
    (top / "Dockerfile").write_text(START)
    folder.spec("image: {build: ../..}\n")
    assert refusal(folder).code == "FL945"


def test_a_work_tree_is_found_without_running_git_in_a_folder_that_it_takes_for_a_bare_repository(
    folder: FleetFolder, outside: Path
) -> None:
    models = folder.root / "model_specs"
    subprocess.run(["git", "init", "-q", "--bare", str(models / "bare")], check=True)
    for path in (models / "bare").iterdir():
        path.rename(models / path.name)
    (models / "config").write_text(
        '[core]\n\tbare = false\n\tworktree = /\n\tfsmonitor = "touch /ran; false"\n'
    )
    folder.spec(f"image: {{build: {outside}}}\n")
    assert refusal(folder).code == "FL471"
    assert not Path("/ran").exists()


@pytest.mark.parametrize("manner", ["relative", "link"])
def test_no_engine_is_built_of_a_file_outside_of_the_reviewed_tree(
    folder: FleetFolder, outside: Path, manner: str
) -> None:
    folder.lock()
    (outside / "m.onnx").write_bytes(b"")
    onnx = f"../../{outside.name}/m.onnx"
    if manner == "link":
        (folder.root / "m.onnx").symlink_to(outside / "m.onnx")
        onnx = "../m.onnx"
    engines = f"engines: [{{model: embed, onnx: {onnx}}}]"
    folder.spec(ALLOW_KEY.split(",")[0] + "}\n", base=SPEC.replace("repository}", f"repository, {engines}}}"))
    assert checked_paths(folder) >= {"FL471", "FL131"}
