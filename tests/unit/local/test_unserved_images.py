"""An image that the embedded AWS cannot serve is reported by its endpoint, before anything is deployed."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import LOCK, SPEC, FleetFolder
from tests.support.own_images import DIGEST, OWN_IMAGE, REGISTRY, lock_image
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.endpoint.resolved_endpoint import ResolvedFleet
from triton_fleet.findings import FindingsError, Severity
from triton_fleet.local.limitations import image_limits, with_servable_images
from triton_fleet.project.project import Project, open_project

IMAGE = f"{REGISTRY}/team/detector@{DIGEST}"
LIMIT = f"only sagemaker-tritonserver images and shared containers are served on this machine, not {IMAGE}"


@pytest.fixture
def fleet(folder: FleetFolder) -> tuple[Project, ResolvedFleet]:
    """`sentences` has an image of its own, `plain` has the release's."""
    folder.spec(OWN_IMAGE)
    lock_image(folder)
    folder.spec(name="plain", base=SPEC.replace("sentences", "plain"))
    folder.write("locks/dev/plain.lock.yaml", LOCK.replace("sentences", "plain"))
    project = open_project(folder.root, "dev")
    return project, resolve_project(project)


def test_an_endpoint_that_nobody_named_is_left_out_with_a_warning(
    fleet: tuple[Project, ResolvedFleet],
) -> None:
    servable, (warning,) = with_servable_images(*fleet, is_explicit=False)
    assert [endpoint.name for endpoint in servable.endpoints] == ["plain"]
    assert (warning.code, warning.severity) == ("FL682", Severity.WARNING)
    assert warning.message == f"the embedded AWS cannot serve 'sentences': {LIMIT}; it is left out"
    assert warning.file and warning.line
    assert warning.file.read_text().splitlines()[warning.line - 1].startswith("image:")


def test_one_that_was_named_is_refused_with_the_command_for_the_others(
    fleet: tuple[Project, ResolvedFleet],
) -> None:
    with pytest.raises(FindingsError) as refusal:
        with_servable_images(*fleet, is_explicit=True)
    (finding,) = refusal.value.findings
    assert (finding.code, finding.severity) == ("FL682", Severity.ERROR)
    assert "`fleet local up sentences` serves it without its image" in finding.hint
    assert finding.hint.endswith("; or leave it out: `fleet deploy --env dev plain`")


def test_nothing_is_deployed_if_none_can_be_served(folder: FleetFolder) -> None:
    folder.spec(OWN_IMAGE)
    lock_image(folder)
    project = open_project(folder.root, "dev")
    with pytest.raises(FindingsError) as refusal:
        with_servable_images(project, resolve_project(project), is_explicit=False)
    assert [finding.code for finding in refusal.value.findings] == ["FL682"]


def test_a_check_of_the_account_refuses_what_the_deploy_refuses_if_none_can_be_served(
    folder: FleetFolder,
) -> None:
    folder.spec(OWN_IMAGE)
    lock_image(folder)
    project = open_project(folder.root, "dev")
    (finding,) = image_limits(project, resolve_project(project), is_explicit=False).values()
    assert (finding.severity, "left out" in finding.message) == (Severity.ERROR, False)


@pytest.mark.parametrize(("is_named", "severity"), [(True, Severity.ERROR), (False, Severity.WARNING)])
def test_a_check_of_the_account_has_the_same_findings(
    fleet: tuple[Project, ResolvedFleet], is_named: bool, severity: Severity
) -> None:
    findings = image_limits(*fleet, is_explicit=is_named)
    assert {name: (finding.code, finding.severity) for name, finding in findings.items()} == {
        "sentences": ("FL682", severity)
    }
