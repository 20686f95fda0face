"""When scheduled scaling acts, as a spec says it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.support.fleet_folder import FleetFolder
from triton_fleet.spec.instance import Schedule
from triton_fleet.spec.schedule import unreachable_time


def schedule(at: str, **keys: object) -> Schedule:
    return Schedule.model_validate({"name": "day", "at": at, "min": 2, **keys})


def refusal_message(at: str, **keys: object) -> str:
    with pytest.raises(ValidationError) as caught:
        schedule(at, **keys)
    return str(caught.value.errors()[0]["ctx"]["error"])


@pytest.mark.parametrize(
    "expression",
    [
        "cron(0 8 ? * MON-FRI *)",
        "cron(30 6 * * 2 *)",
        "cron(*/15 0-6,22 L * ? 2026-2030)",
        "cron(0 12 15W JAN,jul ? *)",
        "cron(0 0 ? * 6#3 *)",
        "cron(0/30 * * * ? *)",
        "rate(1 hour)",
        "rate(12 hours)",
        "at(2026-12-24T18:00:00)",
    ],
)
def test_an_expression_as_the_guide_shows_it_is_taken(expression: str) -> None:
    assert schedule(expression).at == expression


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (
            "cron(0 8 * * MON)",
            "has six fields (minutes, hours, day of month, month, day of week, year), not 5",
        ),
        ("cron(60 8 ? * MON *)", "'60' is invalid for minutes"),
        ("cron(0 24 ? * MON *)", "'24' is invalid for hours"),
        ("cron(0 8 0 * ? *)", "'0' is invalid for day of month"),
        ("cron(0 8 ? 13 MON *)", "'13' is invalid for month"),
        ("cron(0 8 ? * MO *)", "'MO' is invalid for day of week"),
        ("cron(0 8 ? * ? *)", "only one of the two days"),
        ("cron(0 8 ?,1 * 2 *)", "'?,1' is invalid for day of month"),
        ("cron(0/0 8 ? * 2 *)", "'0/0' is invalid for minutes"),
        ("cron(1-2-3 8 ? * 2 *)", "'1-2-3' is invalid for minutes"),
        ("rate(0 hours)", "'0 hours' is not a rate"),
        ("rate(2 weeks)", "'2 weeks' is not a rate"),
        ("at(2026-12-24T8:0:0)", "'2026-12-24T8:0:0' is not a time"),
        ("at(2026-02-30T00:00:00)", "'2026-02-30T00:00:00' is not a time"),
        ("0 8 * * MON", "write `cron("),
        ("cron(0 8 ? * MON *", "write `cron("),
    ],
)
def test_another_expression_is_refused_with_what_is_wrong(expression: str, message: str) -> None:
    assert message in refusal_message(expression)


@given(st.text(max_size=40), st.sampled_from(["cron", "rate", "at", ""]))
def test_no_text_breaks_the_reader(text: str, kind: str) -> None:
    try:
        assert schedule(f"{kind}({text})").at == f"{kind}({text})"
    except ValidationError as error:
        assert error.error_count() == 1


def test_its_time_zone_is_one_of_ianas() -> None:
    assert schedule("rate(1 day)", time_zone="Europe/Berlin").time_zone == "Europe/Berlin"
    assert "no IANA time zone is called 'Europe/Berln'" in refusal_message(
        "rate(1 day)", time_zone="Europe/Berln"
    )


def test_it_changes_the_fewest_or_the_most() -> None:
    assert "it changes nothing" in refusal_message("rate(1 day)", min=None)


def test_a_mistake_is_told_with_its_place(folder: FleetFolder) -> None:
    folder.spec(
        """\
        scaling:
          min: 1
          max: 4
          schedules:
            - {name: day, at: "cron(0 8 * * MON)", min: 3}
        """
    )
    (finding,) = folder.findings()
    assert (finding.code, finding.line) == ("FL112", 10)
    assert "`scaling.schedules[0].at`" in finding.message


def test_two_schedules_of_one_name_are_refused(folder: FleetFolder) -> None:
    text = '{name: day, at: "rate(1 day)", min: 2}'
    folder.spec(f"scaling: {{min: 1, max: 4, schedules: [{text}, {text}]}}\n")
    assert "two schedules are named 'day'" in folder.findings()[0].message


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("cron(0 8 30 2 ? *)", "no month of '2' has the day 30"),
        ("cron(0 8 31 FEB,APR ? *)", "no month of 'FEB,APR' has the day 31"),
        ("cron(0/90 8 ? * MON *)", "'0/90' for minutes has a step beyond 59"),
        ("cron(0,*/60 8 ? * MON *)", "'*/60' for minutes has a step beyond 59"),
        ("cron(0 */24 ? * MON *)", "'*/24' for hours has a step beyond 23"),
        ("cron(0 8 29 2 ? *)", ""),
        ("cron(0 8 29-31 FEB ? *)", ""),
        ("cron(0 8 31 1-3 ? *)", ""),
        ("cron(0 8 L FEB ? *)", ""),
        ("cron(0 8 */30 FEB ? *)", ""),
        ("cron(0/30 8 ? * MON *)", ""),
        ("cron(0 8 31 NOV-FEB ? *)", ""),
        ("rate(90 minutes)", ""),
        ("at(2026-12-24T18:00:00)", ""),
    ],
)
def test_a_time_that_no_clock_reaches_is_found(expression: str, reason: str) -> None:
    assert unreachable_time(schedule(expression).at) == reason
