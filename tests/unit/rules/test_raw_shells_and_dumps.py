"""A shell in a container, and dumps of its memory, are the environment's to allow."""

from __future__ import annotations

from typing import Any

import pytest

from triton_fleet.rules.example import ARCHIVE_SIZE, REGION, Case
from triton_fleet.rules.registry import rules


def raw_messages(code: str, raw: dict[str, Any], **environment: Any) -> list[str]:
    """Messages of a rule for raw properties of EndpointConfig, in an environment with further keys."""
    spec = {"cloudformation": {"EndpointConfig": raw}}
    case = Case(spec=spec, region=REGION, models=None, archive_size=ARCHIVE_SIZE, environment=environment)
    return [problem.message for problem in case.problems(rules()[code])]


class TestDebugging:
    @pytest.mark.parametrize(
        "raw",
        [
            {"ProductionVariants.0.EnableSSMAccess": True},
            {"ProductionVariants.0.EnableSSMAccess": "false"},
            {"ProductionVariants.0.Enable\\SSMAccess": True},
            {"ProductionVariants.0.EnableSSMAccess": {"Fn::If": ["A", True, False]}},
            {"ProductionVariants.0.EnableSSMAccess.Fn::If": ["A", True, False]},
            {"ProductionVariants": [{"EnableSSMAccess": True}]},
            {"ProductionVariants.0": {"Fn::If": ["A", {"EnableSSMAccess": True}, {}]}},
            {"ShadowProductionVariants": [{"VariantName": "next", "EnableSSMAccess": True}]},
        ],
    )
    def test_a_shell_in_a_container_is_opened_only_where_the_environment_allows_it(
        self, raw: dict[str, Any]
    ) -> None:
        assert len(raw_messages("FL563", raw)) == 1
        assert raw_messages("FL563", raw, shell_access=True) == []

    @pytest.mark.parametrize("value", [False, None])
    def test_a_shell_may_always_be_switched_off(self, value: object) -> None:
        raw = {"ProductionVariants.0.EnableSSMAccess": value}
        assert raw_messages("FL563", raw) == []

    @pytest.mark.parametrize(
        "raw",
        [
            {"ProductionVariants.0.CoreDumpConfig": {"DestinationS3Uri": "s3://elsewhere/a"}},
            {"ProductionVariants.0.CoreDumpConfig.DestinationS3Uri": "s3://dumps/search-2"},
            {"ProductionVariants.0.CoreDumpConfig.DestinationS3Uri": "https://dumps/search"},
            {"ProductionVariants.0.CoreDumpConfig.DestinationS3Uri": {"Fn::Sub": "s3://dumps/search/"}},
            {"ProductionVariants.0.CoreDumpConfig.DestinationS3Uri.Fn::Sub": "s3://dumps/search/"},
            {"ProductionVariants.0.CoreDumpConfig": {"Fn::If": ["A", {}, {}]}},
            {"ShadowProductionVariants": [{"CoreDumpConfig": {"DestinationS3Uri": "s3://dumps"}}]},
        ],
    )
    def test_core_dumps_are_written_only_below_what_the_environment_allows(self, raw: dict[str, Any]) -> None:
        assert len(raw_messages("FL564", raw, allowed_core_dumps=["s3://dumps/search"])) == 1

    @pytest.mark.parametrize(
        "allowed_text", ["s3://dumps", "s3://dumps/", "s3://dumps/search", "s3://dumps/search/"]
    )
    def test_core_dumps_below_an_allowed_prefix_are_taken(self, allowed_text: str) -> None:
        for destination in ("s3://dumps/search", "s3://dumps/search/a"):
            raw = {"ProductionVariants.0.CoreDumpConfig": {"DestinationS3Uri": destination}}
            assert raw_messages("FL564", raw, allowed_core_dumps=[allowed_text]) == []

    @pytest.mark.parametrize("code", ["FL349", "FL561", "FL562", "FL563", "FL564"])
    def test_no_spec_can_allow_itself_any_of_them(self, code: str) -> None:
        assert rules()[code].is_needed
