"""Which security fixes of Triton a statement requires, and what an endpoint without them is told."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import LOCK, SPEC
from tests.support.policy_fleet import ASK, BY, PolicyFleet
from triton_fleet.findings import Severity

REQUIRE = "require: {security_fixes: {%s}}"
NEWEST = SPEC.replace("25.04", "26.05")


class TestRequirement:
    @pytest.mark.parametrize(
        ("required_text", "base", "codes"),
        [
            ("severity: critical", SPEC, ["FL996"]),
            ("severity: low", NEWEST, []),
            ("severity: low", NEWEST + "mode: multi-model\n", ["FL996"]),
            ("severity: high", NEWEST + "mode: multi-model\n", []),
            ("fixes: [load-path]", NEWEST + "mode: multi-model\n", ["FL996"]),
            ("fixes: [load-race]", SPEC, []),
            ("fixes: [load-race]", SPEC + "mode: multi-model\n", ["FL996"]),
            ("severity: critical, fixes: [load-path]", NEWEST, []),
        ],
    )
    def test_a_fix_is_required_by_severity_or_id_where_it_concerns_the_mode(
        self, fleet: PolicyFleet, required_text: str, base: str, codes: list[str]
    ) -> None:
        fleet.policy(REQUIRE % required_text)
        fleet.folder.spec(base=base)
        assert fleet.codes() == codes

    def test_the_error_names_fixes_policy_and_the_release_that_has_them(self, fleet: PolicyFleet) -> None:
        fleet.policy(REQUIRE % "severity: critical")
        (finding,) = fleet.findings()
        assert (finding.severity, finding.line) == (Severity.ERROR, 2)
        assert finding.message == (
            "Triton 25.04 lacks chunked-request (critical, 25.07); policies/platform.yaml:5 requires security"
            f" fixes of severity critical or worse {BY}"
        )
        assert finding.hint == (
            'write `triton: "25.09"`, the first release with all of these fixes for ml.g5.xlarge in us-east-1'
            + ASK
        )

    def test_an_allow_of_the_spec_does_not_silence_it(self, fleet: PolicyFleet) -> None:
        fleet.policy(REQUIRE % "severity: critical")
        fleet.spec("allow: {missing-security-fix: known}\n")
        assert fleet.codes() == ["FL996"]

    def test_an_exception_excuses_it(self, fleet: PolicyFleet) -> None:
        exception = (
            "exceptions:\n  - {statement: affordable, endpoints: sentences, allows: [require.security_fixes],"
            " reason: tried, until: 2027-03-31}\n"
        )
        fleet.policy(REQUIRE % "severity: critical", exception)
        assert fleet.codes() == []

    def test_a_raw_image_is_refused_as_it_replaces_the_release(self, fleet: PolicyFleet) -> None:
        fleet.policy(REQUIRE % "severity: critical")
        fleet.folder.spec("cloudformation: {Model: {PrimaryContainer.Image: a}}\n", base=NEWEST)
        assert [line.partition(";")[0] for line in fleet.finding_lines()] == [
            "sentences.yaml:6 FL996 the raw property PrimaryContainer.Image replaces the image of `triton`"
        ]


class TestImages:
    """Of one's own: what counts is the release that they contain."""

    URI = "111122223333.dkr.ecr.us-east-1.amazonaws.com/mine"
    DIGEST = f"sha256:{'0' * 64}"

    @pytest.mark.parametrize(
        ("facts", "codes"),
        [("", ["FL994"]), (", facts: {triton: '25.04'}", ["FL996"]), (", facts: {triton: '26.05'}", [])],
    )
    def test_one_is_compared_by_the_release_that_its_lock_records(
        self, fleet: PolicyFleet, facts: str, codes: list[str]
    ) -> None:
        fleet.policy(REQUIRE % "severity: critical")
        fleet.spec(f"image: {{uri: {self.URI}, digest: '{self.DIGEST}'}}\n")
        fleet.folder.write(
            "locks/dev/sentences.lock.yaml", f"{LOCK}image: {{digest: '{self.DIGEST}'{facts}}}\n"
        )
        assert fleet.codes() == codes


class TestMistakes:
    @pytest.mark.parametrize(
        ("required_text", "message"),
        [
            ("", "it requires no fix"),
            ("fixes: [load-rase]", "the catalog has no such fix"),
            ("severity: bad", "severity"),
        ],
    )
    def test_a_policy_that_names_no_fix_is_refused(
        self, fleet: PolicyFleet, required_text: str, message: str
    ) -> None:
        fleet.policy(REQUIRE % required_text)
        assert any(message in line for line in fleet.finding_lines())
