"""`fleet report` on the shipped fleet: one change of many kinds, compared with arithmetic by hand."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.support.fleet_folder import ROOT
from tests.support.git_repository import GitRepository
from triton_fleet.changes.endpoint_change import EndpointChange
from triton_fleet.changes.fleet_change import FleetChange
from triton_fleet.changes.update_effect import UpdateEffect
from triton_fleet.project.fleet_files import SYNTHESIS_INPUTS
from triton_fleet.review.document import report_document
from triton_fleet.review.fleet_review import fleet_review
from triton_fleet.review.markdown import markdown

pytestmark = pytest.mark.nightly

DAY = date(2026, 11, 1)
G5, G6 = Decimal("1.408"), Decimal("1.1267")
"""US dollars an hour of ml.g5.xlarge and ml.g6.xlarge."""


def shipped_fleet(folder: Path) -> GitRepository:
    """The fleet's own files without model repositories, as a clone in CI may have them."""
    folder.mkdir()
    for root in (ROOT / part for part in SYNTHESIS_INPUTS):
        if root.is_dir():
            shutil.copytree(root, folder / root.name)
        elif root.is_file():
            shutil.copy(root, folder)
    repository = GitRepository.around(folder)
    repository.branch()
    return repository


def edit(file: Path, before: str, after: str) -> None:
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))


def rename(top: Path, old: str, new: str) -> None:
    spec, lock = top / f"model_specs/{old}.yaml", top / f"locks/staging/{old}.lock.yaml"
    for file in (spec, lock):
        edit(file, f"endpoint: {old}\n", f"endpoint: {new}\n")
        file.rename(file.with_name(file.name.replace(old, new)))


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> GitRepository:
    return shipped_fleet(tmp_path_factory.mktemp("report") / "fleet")


@pytest.fixture(scope="module")
def fleet_change(repository: GitRepository) -> FleetChange:
    top = repository.top
    edit(top / "model_specs/sentence-embeddings.yaml", "type: ml.g5.xlarge", "type: ml.g6.xlarge")
    edit(top / "model_specs/resnet-pt.yaml", "max: 5", "max: 20")
    rename(top, "resnet50", "pictures")
    for file in ("model_specs/bert-trt.yaml", "locks/staging/bert-trt.lock.yaml"):
        (top / file).unlink()
    edit(top / "model_specs/model-zoo.yaml", "# ", "#  ")
    repository.commit()
    return fleet_review(top, "main", ["staging"], DAY)


@pytest.fixture(scope="module")
def endpoints(fleet_change: FleetChange) -> Mapping[str, EndpointChange]:
    (staging,) = fleet_change.environments
    return {endpoint.endpoint: endpoint for endpoint in staging.endpoints}


def month(decimal: Decimal) -> str:
    return f"{decimal * 720:,.2f}"


def test_only_what_changed_is_listed_and_the_riskiest_is_first(
    endpoints: Mapping[str, EndpointChange],
) -> None:
    assert list(endpoints) == ["bert-trt", "resnet50", "pictures", "sentence-embeddings", "resnet-pt"]


def test_the_comment_of_another_instance_type_is_that_of_hand_arithmetic(fleet_change: FleetChange) -> None:
    low, high = (
        f"{month(2 * G6)} (−{month(2 * (G5 - G6))}, −20 %)",
        f"{month(8 * G6)} (−{month(8 * (G5 - G6))})",
    )
    assert (low, high) == ("1,622.45 (−405.07, −20 %)", "6,489.79 (−1,620.29)")
    assert (
        "| sentence-embeddings | ml.g5.xlarge (A10G) → ml.g6.xlarge (L4) | new configuration, **endpoint stays** "
        f"| canary 50 %, 10 min + 10 min, rolled back on errors, latency p99 | {low} | {high} |"
    ) in markdown(fleet_change, 0)


def test_it_needs_as_many_instances_beside_the_old_ones(endpoints: Mapping[str, EndpointChange]) -> None:
    need = endpoints["sentence-embeddings"].need
    assert need is not None
    assert (need.type, need.beside, need.max_instances) == ("ml.g6.xlarge", 2, 8)


def test_a_higher_maximum_is_in_place_and_costs_at_max(endpoints: Mapping[str, EndpointChange]) -> None:
    change = endpoints["resnet-pt"]
    assert change.effect is UpdateEffect.IN_PLACE
    assert change.areas == ("scaling", "dashboard")
    assert change.changes == ("scaling.max 5 → 20",)
    assert change.need is not None
    assert (change.need.beside, change.need.max_instances) == (0, 20)
    assert change.min_cost.difference is not None
    assert change.max_cost.difference is not None
    assert change.max_cost.after is not None
    assert change.min_cost.difference.per_hour == 0
    assert change.max_cost.difference.per_hour == change.max_cost.after.per_hour / 20 * 15


def test_a_deletion_names_its_command_and_what_runs_until_then(
    endpoints: Mapping[str, EndpointChange],
) -> None:
    change = endpoints["bert-trt"]
    assert change.effect is UpdateEffect.REMOVED
    assert "`fleet destroy --env staging bert-trt`" in change.warnings[0]


def test_a_rename_is_a_deletion_and_a_creation_with_what_is_lost(
    endpoints: Mapping[str, EndpointChange],
) -> None:
    assert endpoints["resnet50"].other_name == "pictures"
    assert endpoints["pictures"].effect is UpdateEffect.CREATED
    assert "is a deletion and a creation: its URL" in endpoints["resnet50"].warnings[0]


def test_the_verdict_names_what_interrupts(fleet_change: FleetChange) -> None:
    first, verdict, *_ = markdown(fleet_change, 0).splitlines()
    assert first == "<!-- triton-fleet-report -->"
    assert verdict.startswith(
        "### staging: 2 endpoints to be destroyed, 1 endpoint created, 2 endpoints updated in place, "
    )
    assert verdict.endswith("· interrupts bert-trt, resnet50")


def test_two_reports_are_the_same_bytes_and_nothing_is_left_behind(
    fleet_change: FleetChange, repository: GitRepository
) -> None:
    second_change = fleet_review(repository.top, "main", ["staging"], DAY)
    assert markdown(second_change, 65_536) == markdown(fleet_change, 65_536)
    assert json.dumps(report_document(second_change)) == json.dumps(report_document(fleet_change))
    assert len(repository.git("worktree", "list").splitlines()) == 1
    assert not re.search(r"fleet-report-", markdown(fleet_change, 0))


class TestOtherChanges:
    @pytest.fixture
    def top(self, tmp_path: Path) -> Path:
        return shipped_fleet(tmp_path / "fleet").top

    def test_a_comment_alone_is_no_change_and_one_line(self, top: Path) -> None:
        edit(top / "model_specs/model-zoo.yaml", "# ", "#  ")
        text = markdown(fleet_review(top, "main", [], DAY), 0).splitlines()
        assert len(text) == 2
        assert text[1].startswith("### nothing changes in dev, prod, staging compared with `")

    def test_the_readme_shows_a_comment_but_for_its_details_and_its_base(self, top: Path) -> None:
        edit(top / "model_specs/sentence-embeddings.yaml", "type: ml.g5.xlarge", "type: ml.g6.xlarge")
        comment = markdown(fleet_review(top, "main", ["staging"], DAY), 65_536)
        output = comment.removeprefix("<!-- triton-fleet-report -->\n").partition("\n\n<details>")[0]
        matches = re.findall(r"^> ?(.*)$", (ROOT / "README.md").read_text(), re.MULTILINE)
        assert matches == output.splitlines()

    def test_a_spec_that_was_wrong_at_the_base_is_named_with_its_mistake(self, top: Path) -> None:
        spec = top / "model_specs/resnet50.yaml"
        right = spec.read_text()
        spec.write_text(right.replace("scaling:", "scalling:"))
        repository = GitRepository(top)
        repository.git("checkout", "--quiet", "main")
        repository.commit()
        repository.branch("fix")
        spec.write_text(right)
        (staging,) = fleet_review(top, "main", ["staging"], DAY).environments
        (change,) = staging.endpoints
        assert change.effect is UpdateEffect.UNKNOWN
        assert "scalling" in change.problem
        assert [finding.code for finding in staging.fixes] == ["FL110"]

    def test_a_spec_that_is_wrong_now_is_a_new_error_in_the_verdict(self, top: Path) -> None:
        edit(top / "model_specs/resnet50.yaml", "scaling:", "scalling:")
        text = markdown(fleet_review(top, "main", ["staging"], DAY), 0)
        assert "1 new error: a deploy is refused" in text.splitlines()[1]
        assert "model_specs/resnet50.yaml:" in text

    def test_an_environment_that_the_base_lacks_is_new(self, top: Path) -> None:
        staging = (top / "environments/staging.yaml").read_text()
        (top / "environments/qa.yaml").write_text(
            f"{staging.replace('staging', 'qa').replace('4444', '3333')}endpoints: [resnet50]\n"
        )
        (top / "locks/qa").mkdir()
        shutil.copy(top / "locks/staging/resnet50.lock.yaml", top / "locks/qa")
        (qa,) = fleet_review(top, "main", ["qa"], DAY).environments
        assert "new environment" in qa.notes[0]
        assert [(endpoint.endpoint, endpoint.effect) for endpoint in qa.endpoints] == [
            ("resnet50", UpdateEffect.CREATED)
        ]

    def test_a_promoted_environment_is_compared_by_its_own_specs(self, top: Path) -> None:
        edit(top / "model_specs/resnet50.yaml", "max: 4", "max: 6")
        change: Any = fleet_review(top, "main", ["prod", "staging"], DAY)
        assert [(environment.name, len(environment.endpoints)) for environment in change.environments] == [
            ("prod", 0),
            ("staging", 1),
        ]

    def test_the_owner_and_the_key_of_an_environment_reach_all_of_its_endpoints(self, top: Path) -> None:
        edit(top / "environments/staging.yaml", "tags: {", "tags: {cost: '1', ")
        (staging,) = fleet_review(top, "main", ["staging"], DAY).environments
        assert {endpoint.effect for endpoint in staging.endpoints} == {UpdateEffect.IN_PLACE}
        locks = (top / "locks/staging").glob("*.lock.yaml")
        assert {endpoint.endpoint for endpoint in staging.endpoints} == {
            lock.name.split(".")[0] for lock in locks
        }
        assert staging.foundation
