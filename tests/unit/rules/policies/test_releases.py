"""Which releases of Triton a statement allows, until when, and what counts for images that a spec names."""

from __future__ import annotations

from datetime import date

import pytest

from tests.support.fleet_folder import LOCK
from tests.support.policy_fleet import ASK, BY, PolicyFleet
from triton_fleet.findings import Severity


class TestReleases:
    @pytest.mark.parametrize(
        ("releases", "day", "codes"),
        [
            ('{"25.04": null}', date(2036, 1, 1), []),
            ('{"24.09": null}', date(2026, 1, 1), ["FL956"]),
            ('{"25.04": 2027-01-31}', date(2026, 12, 31), []),
            ('{"25.04": 2027-01-31}', date(2027, 1, 1), ["FL958"]),
            ('{"25.04": 2027-01-31}', date(2027, 1, 31), ["FL958"]),
            ('{"25.04": 2027-01-31}', date(2027, 2, 1), ["FL957"]),
        ],
    )
    def test_a_release_is_allowed_until_its_last_day_and_a_warning_for_a_month_before(
        self, fleet: PolicyFleet, releases: str, day: date, codes: list[str]
    ) -> None:
        fleet.policy(f"triton: {{releases: {releases}}}")
        assert fleet.codes(today=day) == codes

    def test_messages_have_the_day_and_the_releases_that_stay(self, fleet: PolicyFleet) -> None:
        fleet.policy('triton:\n  releases: {"25.04": 2027-01-31, "25.09": 2027-06-30, "24.09": 2026-01-31}')
        (finding,) = fleet.findings(today=date(2027, 1, 30))
        assert (finding.severity, finding.line) == (Severity.WARNING, 2)
        assert finding.message == (
            "`triton` is 25.04, and 1 day is left; policies/platform.yaml:6 allows it until 2027-01-31 " + BY
        )
        assert finding.hint == f"write 25.09{ASK}"
        (late,) = fleet.findings(today=date(2027, 2, 1))
        assert late.severity is Severity.ERROR
        assert late.message.startswith(
            "`triton` is 25.04; policies/platform.yaml:6 allowed it until 2027-01-31"
        )

    def test_the_last_release_before_its_end_is_not_proposed_again(self, fleet: PolicyFleet) -> None:
        fleet.policy('triton: {releases: {"25.04": 2027-03-31}}')
        (finding,) = fleet.findings(today=date(2027, 3, 20))
        assert finding.hint == f"have the policy allow another release{ASK}"

    @pytest.mark.parametrize(
        ("raw", "name"),
        [
            (
                "PrimaryContainer.Image: 785573368785.dkr.ecr.us-east-1.amazonaws.com/a:22.05-py3",
                "PrimaryContainer.Image",
            ),
            ("PrimaryContainer: {ModelPackageName: a}", "PrimaryContainer.ModelPackageName"),
            ("Containers: [{Image: a}]", "Containers"),
        ],
    )
    def test_a_raw_property_cannot_replace_the_image_of_the_release(
        self, fleet: PolicyFleet, raw: str, name: str
    ) -> None:
        fleet.policy('triton: {releases: {"25.04": null}}')
        fleet.spec(f"cloudformation: {{Model: {{{raw}}}}}\n")
        assert fleet.finding_lines() == [
            f"sentences.yaml:6 FL956 the raw property {name} replaces the image of `triton`;"
            f" policies/platform.yaml:5 allows 25.04 {BY}"
        ]


class TestImages:
    """Of one's own: what counts is the release that they contain."""

    URI = "111122223333.dkr.ecr.us-east-1.amazonaws.com/mine"
    DIGEST = f"sha256:{'0' * 64}"

    def use(self, fleet: PolicyFleet, facts: str) -> None:
        fleet.policy('triton: {releases: {"25.04": null}}')
        fleet.spec(f"image: {{uri: {self.URI}, digest: '{self.DIGEST}'}}\n")
        fleet.folder.write(
            "locks/dev/sentences.lock.yaml", f"{LOCK}image: {{digest: '{self.DIGEST}'{facts}}}\n"
        )

    @pytest.mark.parametrize(("contained_text", "codes"), [("25.04", []), ("22.05", ["FL956"])])
    def test_one_that_contains_another_release_is_compared_by_that(
        self, fleet: PolicyFleet, contained_text: str, codes: list[str]
    ) -> None:
        self.use(fleet, f", facts: {{triton: '{contained_text}'}}")
        assert fleet.codes() == codes

    def test_the_finding_names_the_release_at_the_image(self, fleet: PolicyFleet) -> None:
        self.use(fleet, ", facts: {triton: '22.05'}")
        assert fleet.finding_lines() == [
            f"sentences.yaml:6 FL956 the image contains Triton 22.05; policies/platform.yaml:5 allows 25.04 {BY}"
        ]

    def test_of_one_that_nobody_could_read_the_policy_cannot_be_checked(self, fleet: PolicyFleet) -> None:
        self.use(fleet, "")
        (finding,) = fleet.findings()
        assert (finding.code, finding.severity) == ("FL994", Severity.WARNING)
        assert finding.message.startswith("the Triton release in the image is unknown")
