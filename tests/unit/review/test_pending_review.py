"""The part of a pull request in what waits for a promotion: main at its base compared with main at its head."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.git_repository import GitRepository
from tests.support.promoted_fleet import OVERRIDES, PromotedFleet
from triton_fleet.changes.promotion_lines import pending_line
from triton_fleet.project.project import Fleet
from triton_fleet.review.environment_side import base_side, head_side
from triton_fleet.review.fleet_review import fleet_review
from triton_fleet.review.markdown import markdown
from triton_fleet.review.pending_review import PendingReview, pending_review

TODAY = date(2026, 11, 23)


@dataclass(frozen=True)
class PullRequest:
    """A fleet, and as it was at the base."""

    fleet: PromotedFleet
    base: PromotedFleet

    def added_lines(self, environment: str = "prod") -> list[str]:
        return [pending_line(promotion) for promotion in self.review(environment).promotions]

    def review(self, environment: str = "prod") -> PendingReview:
        before = base_side(Fleet(self.base.root), environment)
        after = head_side(Fleet(self.fleet.root), environment, before)
        return pending_review(before, after, TODAY)

    def merge(self) -> None:
        """The base is what the head is now."""
        shutil.rmtree(self.base.root)
        shutil.copytree(self.fleet.root, self.base.root)


@pytest.fixture
def change(folder: FleetFolder, tmp_path: Path) -> PullRequest:
    fleet = PromotedFleet(folder)
    fleet.prepare()
    base = tmp_path / "base"
    shutil.copytree(folder.root, base)
    return PullRequest(fleet, PromotedFleet(FleetFolder(base)))


def test_a_change_of_nothing_adds_nothing(change: PullRequest) -> None:
    assert change.added_lines() == []


def test_an_override_of_the_promoted_environment_is_in_the_report_with_its_policies(
    folder: FleetFolder,
) -> None:
    fleet = PromotedFleet(folder)
    fleet.prepare()
    repository = GitRepository.around(folder.root)
    repository.branch()
    fleet.edit("models:", f"{OVERRIDES}models:")
    repository.commit()
    change = fleet_review(folder.root, "main", [], TODAY)
    line = (
        "waits for promotion: prod would change simple: instance.type ml.g5.xlarge → ml.g5.48xlarge;"
        " scaling.min 2 → 1; scaling.max 6 → 19, +12,631.68 USD a month at min, +272,442.24 at max;"
        " its policies would refuse it: FL951, FL954, FL990"
    )
    assert change.verdict == (
        "prod: 1 endpoint waits for promotion, +12,631.68 USD a month at min, +272,442.24 at max;"
        " 1 would be refused: FL951, FL954, FL990"
    )
    text = markdown(change, 0)
    assert f"- {line}" in text
    assert "model_specs/simple.yaml:6:31: error FL951" in text
    assert "nothing changes in dev, staging;" in text


@pytest.mark.parametrize("environment", ["staging", "prod"])
def test_a_change_of_a_spec_waits_in_each_environment_of_the_chain(
    change: PullRequest, environment: str
) -> None:
    change.fleet.edit("max: 6", "max: 12")
    (line,) = change.added_lines(environment)
    assert line.startswith(
        f"waits for promotion: {environment} would change simple: scaling.max 6 → 12, the same cost at min, +6,082.56"
    )
    assert line.endswith("; its policies would refuse it: FL954") == (environment == "prod")


def test_a_change_of_a_profile_waits_with_the_key_that_it_sets(change: PullRequest) -> None:
    change.fleet.edit("bake: 10m", "bake: 20m", "profiles/base.yaml")
    assert change.added_lines() == [
        "waits for promotion: prod would change simple: rollout.bake 600s → 1200s, the same cost"
    ]


def test_a_lock_of_the_environment_that_follows_main_waits_with_its_content(change: PullRequest) -> None:
    change.fleet.lock("dev", digest="b")
    assert change.added_lines() == [
        "waits for promotion: prod would change simple: archive simple: other files, 1.0 kB → 1.0 kB, the same cost"
    ]


def test_what_waited_before_is_not_repeated(change: PullRequest) -> None:
    change.fleet.edit("max: 6", "max: 7")
    change.merge()
    assert change.added_lines() == []
    change.fleet.edit("max: 7", "max: 8")
    assert change.added_lines() == [
        "waits for promotion: prod would change simple: scaling.max 6 → 8 (so far 6 → 7), the same cost at min, +1,013.76 USD a month at max;"
        " its policies would refuse it: FL954"
    ]


def test_an_endpoint_that_was_never_promoted_waits_with_its_machines_and_its_changes(
    change: PullRequest,
) -> None:
    change.fleet.spec("ranking")
    (line,) = change.added_lines()
    assert line.startswith("waits for promotion: prod would get ranking: 2 to 6 × ml.g5.xlarge, +2,027.52")
    change.merge()
    change.fleet.edit("max: 6", "max: 7", "model_specs/ranking.yaml")
    (line,) = change.added_lines()
    assert line == (
        "waits for promotion: prod would get ranking: 2 to 7 × ml.g5.xlarge; scaling.max 6 → 7, the same cost at min, +1,013.76 USD a month at max"
    )


def test_a_deleted_spec_waits_for_the_end_of_its_endpoint(change: PullRequest) -> None:
    (change.fleet.root / "model_specs/simple.yaml").unlink()
    assert change.added_lines() == [
        "simple: main no longer has it; `fleet destroy simple --env prod` removes it"
    ]


def test_a_revert_of_what_waited_adds_nothing(change: PullRequest) -> None:
    change.fleet.edit("max: 6", "max: 7")
    change.merge()
    change.fleet.edit("max: 7", "max: 6")
    assert change.added_lines() == []


def test_the_environments_own_file_waits_for_nothing(change: PullRequest) -> None:
    change.fleet.edit(
        "region:", "overrides: {simple: {scaling: {max: 7}}}\nregion:", "environments/prod.yaml"
    )
    assert change.added_lines() == []


class TestAnEnvironmentBeforeThatCannotBeRead:
    def test_is_a_note_of_the_report_and_never_nothing(self, folder: FleetFolder) -> None:
        fleet = PromotedFleet(folder)
        fleet.prepare()
        repository = GitRepository.around(folder.root)
        repository.branch()
        fleet.edit("max: 6", "max: 12")
        fleet.edit("region:", "regoin:", "environments/staging.yaml")
        repository.commit()
        change = fleet_review(folder.root, "main", ["prod"], TODAY)
        (note,) = change.environments[0].notes
        assert note.startswith("what waits for prod is unknown: environments/staging.yaml:1:1: error FL111:")
        assert note in markdown(change, 0).replace("\\", "")
        assert "nothing changes" not in markdown(change, 0)

    def test_is_a_note_beside_all_that_waits_where_the_base_alone_has_it(self, change: PullRequest) -> None:
        change.base.edit("region:", "regoin:", "environments/staging.yaml")
        change.fleet.edit("max: 6", "max: 12")
        review = change.review()
        assert [promotion.endpoint for promotion in review.promotions] == ["simple"]
        (note,) = review.notes
        assert note.startswith(
            "what waited for prod before is unknown: environments/staging.yaml:1:1: error FL111:"
        )


class TestAChangeOfWhatDecides:
    """Other policies, prices or sums of a team refuse, or no longer refuse, what waited before."""

    @pytest.fixture(autouse=True)
    def waiting_change(self, change: PullRequest) -> None:
        change.fleet.edit("max: 6", "max: 7")
        change.merge()

    def test_is_nothing_where_the_verdict_stays(self, change: PullRequest) -> None:
        change.fleet.edit("endpoint: 8000", "endpoint: 7999", "policies/platform.yaml")
        assert change.added_lines() == []

    def test_refuses_what_waited_already(self, change: PullRequest) -> None:
        change.fleet.edit("endpoint: 8000", "endpoint: 7000", "policies/platform.yaml")
        assert change.added_lines() == ["waits for promotion: prod's policies would now refuse simple: FL954"]
        (promotion,) = change.review().promotions
        assert [str(refusal.file) for refusal in promotion.refusals] == ["model_specs/simple.yaml"]

    def test_permits_what_was_refused(self, change: PullRequest) -> None:
        change.fleet.edit("endpoint: 8000", "endpoint: 7000", "policies/platform.yaml")
        change.merge()
        change.fleet.edit("endpoint: 7000", "endpoint: 8000", "policies/platform.yaml")
        assert change.added_lines() == ["waits for promotion: prod would no longer refuse simple: FL954"]

    def test_may_be_a_price(self, change: PullRequest) -> None:
        prices = "date: 2026-11-01\nprices: {us-east-1: {ml.g5.xlarge: 5}}\n"
        change.fleet.folder.write("prices.yaml", prices)
        assert "waits for promotion: prod's policies would now refuse simple: FL954" in change.added_lines()

    def test_may_be_another_endpoint_of_the_team(self, change: PullRequest) -> None:
        change.fleet.edit("endpoint: 8000", "owner: 15000", "policies/platform.yaml")
        change.fleet.edit("endpoint: simple\n", "endpoint: simple\nowner: {team: search}\n")
        change.merge()
        for name in ("images", "ranking"):
            change.fleet.spec(name, "owner: {team: search}\n")
        assert "waits for promotion: prod's policies would now refuse simple: FL955" in change.added_lines()


def test_a_second_change_of_a_model_that_waits_already_is_in_the_report(change: PullRequest) -> None:
    change.fleet.lock("dev", digest="b")
    change.merge()
    change.fleet.lock("dev", digest="c")
    assert change.added_lines() == [
        "waits for promotion: prod would change simple: archive simple: other files, 1.0 kB → 1.0 kB,"
        " the same cost"
    ]


def test_an_endpoint_that_the_environments_globs_admit_is_in_the_report(change: PullRequest) -> None:
    change.fleet.spec("ranking")
    change.fleet.edit("account:", "endpoints: [simple]\naccount:", "environments/prod.yaml")
    change.merge()
    change.fleet.edit("endpoints: [simple]\n", "", "environments/prod.yaml")
    (line,) = change.added_lines()
    assert line.startswith("waits for promotion: prod would get ranking: 2 to 6 × ml.g5.xlarge, +2,027.52")


def test_an_endpoint_that_main_takes_out_of_the_environment_is_in_the_report(change: PullRequest) -> None:
    change.fleet.edit("models:", "environments: [dev, staging]\nmodels:")
    assert change.added_lines() == [
        "simple: main no longer has it; `fleet destroy simple --env prod` removes it",
    ]


def test_both_ends_have_the_prices_of_the_change(change: PullRequest) -> None:
    change.fleet.edit("max: 6", "max: 7")
    change.merge()
    change.fleet.edit("max: 7", "max: 8")
    change.fleet.folder.write("prices.yaml", "date: 2026-11-01\ncurrency: JPY\nusd_rate: 150\n")
    (line,) = change.added_lines()
    assert "scaling.max 6 → 8 (so far 6 → 7), the same cost at min, +152,064.00 JPY a month at max" in line
