"""A promotion waits as soon as main has its change: with its keys, its cost, and what would refuse it."""

from __future__ import annotations

from datetime import date

import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.git_repository import GitRepository
from tests.support.promoted_fleet import OVERRIDES, PromotedFleet
from triton_fleet.changes.promotion_lines import pending_line
from triton_fleet.check.pending_promotions import pending_promotions, promotion_warnings, require_promotable
from triton_fleet.cli.commands import app
from triton_fleet.findings import FindingsError, Severity
from triton_fleet.store.promote.spec import target_for

TODAY = date(2026, 11, 23)
WAITS = "waits for promotion: prod would"


@pytest.fixture
def fleet(folder: FleetFolder, monkeypatch: pytest.MonkeyPatch) -> PromotedFleet:
    fleet = PromotedFleet(folder)
    fleet.prepare()
    monkeypatch.chdir(folder.root)
    return fleet


def waiting_endpoints(fleet: PromotedFleet, environment: str = "prod") -> list[str]:
    return [pending_line(promotion) for promotion in pending_promotions(fleet.project(environment), TODAY)]


class TestWhatWaits:
    def test_nothing_where_the_environment_has_what_main_has(self, fleet: PromotedFleet) -> None:
        assert waiting_endpoints(fleet) == []

    def test_an_override_that_the_policies_of_the_environment_refuse(self, fleet: PromotedFleet) -> None:
        fleet.edit("models:", f"{OVERRIDES}models:")
        assert waiting_endpoints(fleet) == [
            f"{WAITS} change simple: instance.type ml.g5.xlarge → ml.g5.48xlarge; scaling.min 2 → 1;"
            " scaling.max 6 → 19, +12,631.68 USD a month at min, +272,442.24 at max;"
            " its policies would refuse it: FL951, FL954, FL990"
        ]
        assert waiting_endpoints(fleet, "staging") == []

    @pytest.mark.parametrize("environment", ["staging", "prod"])
    def test_a_key_of_the_spec_in_each_environment_of_the_chain(
        self, fleet: PromotedFleet, environment: str
    ) -> None:
        fleet.edit("max: 6, gpu_utilization: 60", "max: 7, gpu_utilization: 40")
        assert waiting_endpoints(fleet, environment) == [
            f"waits for promotion: {environment} would change simple: scaling.max 6 → 7;"
            " scaling.gpu_utilization 60.0 → 40.0, the same cost at min, +1,013.76 USD a month at max"
        ]

    def test_a_key_of_a_profile_waits_in_each_endpoint_that_has_it(self, fleet: PromotedFleet) -> None:
        fleet.edit("bake: 10m", "bake: 20m", "profiles/base.yaml")
        assert waiting_endpoints(fleet) == [
            f"{WAITS} change simple: rollout.bake 600s → 1200s, the same cost"
        ]

    def test_content_that_the_environment_that_follows_main_has(self, fleet: PromotedFleet) -> None:
        fleet.lock("dev", digest="b")
        assert waiting_endpoints(fleet) == [
            f"{WAITS} change simple: archive simple: other files, 1.0 kB → 1.0 kB, the same cost"
        ]

    def test_an_endpoint_that_was_never_promoted_and_has_no_lock(self, fleet: PromotedFleet) -> None:
        fleet.spec("ranking")
        assert waiting_endpoints(fleet) == [
            f"{WAITS} get ranking: 2 to 6 × ml.g5.xlarge, +2,027.52 USD a month at min, +6,082.56 at max"
        ]

    def test_an_endpoint_that_main_no_longer_has(self, fleet: PromotedFleet) -> None:
        (fleet.root / "model_specs/simple.yaml").unlink()
        assert waiting_endpoints(fleet) == [
            "simple: main no longer has it; `fleet destroy simple --env prod` removes it"
        ]

    def test_the_cost_of_a_type_without_a_price_is_unknown(self, fleet: PromotedFleet) -> None:
        fleet.edit("ml.g5.xlarge", "ml.p6-b200.48xlarge")
        assert "ml.g5.xlarge → ml.p6-b200.48xlarge, cost unknown; its" in waiting_endpoints(fleet)[0]

    def test_a_spec_of_main_that_cannot_be_read(self, fleet: PromotedFleet) -> None:
        fleet.edit("scaling:", "scalling:")
        assert waiting_endpoints(fleet) == ["simple: cannot be compared with main: unknown key `scalling`"]
        (promotion,) = pending_promotions(fleet.project(), TODAY)
        assert (promotion.min_cost.difference, promotion.max_cost.difference) == (None, None)

    def test_the_environments_own_overrides_hold_already(self, fleet: PromotedFleet) -> None:
        fleet.edit("region:", "overrides: {simple: {scaling: {max: 7}}}\nregion:", "environments/prod.yaml")
        assert waiting_endpoints(fleet) == []


class TestWhatWouldBeRefused:
    def test_it_is_a_warning_at_the_line_that_causes_it(self, fleet: PromotedFleet) -> None:
        fleet.edit("models:", f"{OVERRIDES}models:")
        findings = promotion_warnings(pending_promotions(fleet.project(), TODAY), ())
        assert {(finding.code, finding.severity) for finding in findings} == {("FL522", Severity.WARNING)}
        assert [(finding.file, finding.line) for finding in findings] == [
            (fleet.root / "model_specs/simple.yaml", 6)
        ] * 3
        assert [finding.message.partition(";")[0] for finding in findings] == [
            "too-many-gpus (FL951) would refuse a promotion to prod:"
            " `instance.type` is ml.g5.48xlarge, which has 8 GPUs",
            "endpoint-over-budget (FL954) would refuse a promotion to prod:"
            " at its maximum, 19 × ml.g5.48xlarge, the endpoint costs 278,524.80 USD a month",
            "unmet-requirement (FL990) would refuse a promotion to prod: `scaling.min` is 1",
        ]

    def test_a_profile_is_one_cause_for_all_of_its_endpoints(self, fleet: PromotedFleet) -> None:
        fleet.spec("ranking")
        fleet.edit("canary: 50%, ", "", "profiles/base.yaml")
        (finding,) = promotion_warnings(pending_promotions(fleet.project(), TODAY), ())
        assert finding.endpoints == ("ranking", "simple")
        assert "(FL284)" in finding.message

    def test_a_team_may_be_over_its_budget_by_all_that_waits(self, fleet: PromotedFleet) -> None:
        fleet.edit("endpoint: 8000", "owner: 15000", "policies/platform.yaml")
        fleet.edit("endpoint: simple\n", "endpoint: simple\nowner: {team: search}\n")
        owner = "owner: {team: search}\n"
        fleet.spec("ranking", owner)
        assert [promotion.codes for promotion in pending_promotions(fleet.project(), TODAY)] == [(), ()]
        fleet.spec("images", owner)
        assert {
            code for promotion in pending_promotions(fleet.project(), TODAY) for code in promotion.codes
        } == {"FL955"}

    def test_a_name_that_exists_in_the_account(self, fleet: PromotedFleet) -> None:
        fleet.edit("111122223333", "111122223331", "environments/prod.yaml")
        fleet.spec("ranking")
        fleet.lock("dev", "ranking")
        (promotion,) = pending_promotions(fleet.project(), TODAY, ["ranking"])
        assert promotion.codes == ("FL124",)

    def test_nothing_is_refused_twice(self, fleet: PromotedFleet) -> None:
        fleet.edit("111122223333", "111122223331", "environments/prod.yaml")
        fleet.edit("max: 6", "max: 7")
        promotions = pending_promotions(fleet.project(), TODAY)
        (known_finding,) = promotion_warnings(promotions, ())
        assert "FL124" in known_finding.message
        assert promotion_warnings(promotions, promotions[0].refusals) == []


class TestCheck:
    def test_prints_a_line_for_each_endpoint_and_exits_with_0(
        self, fleet: PromotedFleet, capsys: pytest.CaptureFixture[str]
    ) -> None:
        fleet.edit("max: 6", "max: 7")
        app(["check", "--env", "prod"], standalone_mode=False)
        assert capsys.readouterr().out.splitlines() == [
            f"{WAITS} change simple: scaling.max 6 → 7, the same cost at min, +1,013.76 USD a month at max",
            "prod: no findings in simple",
        ]

    def test_warns_of_what_would_be_refused_and_fails_only_if_it_is_strict(
        self, fleet: PromotedFleet, capsys: pytest.CaptureFixture[str]
    ) -> None:
        fleet.edit("models:", f"{OVERRIDES}models:")
        app(["check", "--env", "prod"], standalone_mode=False)
        output = capsys.readouterr()
        assert output.out.startswith(f"{WAITS} change simple")
        assert "0 errors, 3 warnings" in output.err
        with pytest.raises(SystemExit) as exit_info:
            app(["check", "--env", "prod", "--strict"], standalone_mode=False)
        assert exit_info.value.code == 1

    @pytest.mark.parametrize("selector", ["changed:HEAD", "changed:HEAD,simple", "simple"])
    def test_shows_what_waits_for_an_endpoint_that_is_selected_in_main(
        self, fleet: PromotedFleet, capsys: pytest.CaptureFixture[str], selector: str
    ) -> None:
        GitRepository.around(fleet.root)
        fleet.edit("max: 6", "max: 7")
        app(["check", "--env", "prod", selector], standalone_mode=False)
        output = capsys.readouterr()
        assert output.out.startswith(f"{WAITS} change simple: scaling.max 6 → 7")
        assert "no endpoint" not in output.out + output.err

    @pytest.mark.parametrize("selector", ["ranking", "model_specs/ranking.yaml", "rank*"])
    def test_shows_what_waits_for_an_endpoint_that_was_never_promoted(
        self, fleet: PromotedFleet, capsys: pytest.CaptureFixture[str], selector: str
    ) -> None:
        fleet.spec("ranking")
        app(["check", "--env", "prod", selector], standalone_mode=False)
        output = capsys.readouterr()
        assert output.out.startswith(f"{WAITS} get ranking: 2 to 6 × ml.g5.xlarge")
        assert "no endpoint" not in output.out + output.err

    def test_names_three_endpoints_with_equal_changes_and_the_number_of_the_others(
        self, fleet: PromotedFleet, capsys: pytest.CaptureFixture[str]
    ) -> None:
        for number in range(5):
            fleet.spec(f"e{number}")
        app(["check", "--env", "prod"], standalone_mode=False)
        assert f"{WAITS} get e0, e1, e2 and 2 more endpoints: 2 to 6 × ml.g5" in capsys.readouterr().out

    def test_refuses_an_endpoint_that_no_promotion_brings(self, fleet: PromotedFleet) -> None:
        fleet.spec("ranking")
        fleet.edit("region:", "endpoints: [simple]\nregion:", "environments/prod.yaml")
        with pytest.raises(SystemExit) as exit_info:
            app(["check", "--env", "prod", "ranking"], standalone_mode=False)
        assert exit_info.value.code == 1

    def test_shows_nothing_of_others(self, fleet: PromotedFleet, capsys: pytest.CaptureFixture[str]) -> None:
        fleet.spec("ranking")
        app(["check", "--env", "prod", "simple"], standalone_mode=False)
        assert capsys.readouterr().out == "prod: no findings in simple\n"

    def test_other_formats_have_findings_alone(
        self, fleet: PromotedFleet, capsys: pytest.CaptureFixture[str]
    ) -> None:
        fleet.edit("max: 6", "max: 7")
        app(["check", "--env", "prod", "--format", "github"], standalone_mode=False)
        assert capsys.readouterr().out == ""

    def test_an_environment_that_follows_main_waits_for_nothing(
        self, fleet: PromotedFleet, capsys: pytest.CaptureFixture[str]
    ) -> None:
        fleet.edit("max: 6", "max: 7")
        app(["check", "--env", "dev", "--locked"], standalone_mode=False)
        assert "waits" not in capsys.readouterr().out


class TestAPromotionIsRefused:
    def refusal_lines(self, fleet: PromotedFleet) -> list[str]:
        with pytest.raises(FindingsError) as refusal:
            require_promotable(fleet.project("dev"), fleet.project("staging"), TODAY)
        return [finding.code for finding in refusal.value.findings]

    def test_by_nothing_that_main_alone_has(self, fleet: PromotedFleet) -> None:
        fleet.edit("models:", f"{OVERRIDES}models:")
        require_promotable(fleet.project("staging"), fleet.project("prod"), TODAY)

    def test_by_a_policy_of_the_target_alone(self, fleet: PromotedFleet) -> None:
        fleet.edit("environment: prod", "environment: staging", "policies/platform.yaml")
        fleet.edit("max: 6", "max: 9")
        assert self.refusal_lines(fleet) == ["FL954"]

    def test_by_a_rule(self, fleet: PromotedFleet) -> None:
        fleet.edit("canary: 50%, ", "", "profiles/base.yaml")
        assert self.refusal_lines(fleet) == ["FL284"]

    def test_by_what_a_synthesis_of_the_target_would_refuse(self, fleet: PromotedFleet) -> None:
        fleet.edit("111122223332", "111122223331", "environments/staging.yaml")
        for file in ("simple.lock.yaml", "simple.spec.yaml"):
            (fleet.root / "locks/staging" / file).unlink()
        with pytest.raises(FindingsError) as refusal:
            require_promotable(fleet.project("dev"), target_for(fleet.project("staging"), ["simple"]), TODAY)
        assert [finding.code for finding in refusal.value.findings] == ["FL124"]
