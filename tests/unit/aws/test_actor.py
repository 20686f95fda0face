"""Who made a release or holds a deploy."""

from __future__ import annotations

import pytest

from triton_fleet.awsapi.actor import Actor, CiRun, actor, is_ci

ARN = "arn:aws:sts::111122223333:assumed-role/Deploy/anna"
GITHUB = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_ACTOR": "anna",
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_REPOSITORY": "search/fleet",
    "GITHUB_RUN_ID": "42",
    "GITHUB_TOKEN": "ghs_secret",
}
GITLAB = {
    "GITLAB_CI": "true",
    "GITLAB_USER_LOGIN": "anna",
    "CI_JOB_URL": "https://gitlab.com/search/fleet/-/jobs/42",
    "CI_JOB_TOKEN": "glcbt-secret",
}


def test_outside_of_ci_an_actor_is_the_arn_that_sts_names() -> None:
    assert actor(ARN, {"USER": "root"}) == Actor(arn=ARN)
    assert str(actor(ARN, {})) == "assumed-role/Deploy/anna"


@pytest.mark.parametrize(
    ("environ", "platform", "url"),
    [
        (GITHUB, "GitHub", "https://github.com/search/fleet/actions/runs/42"),
        (GITLAB, "GitLab", "https://gitlab.com/search/fleet/-/jobs/42"),
    ],
)
def test_the_user_and_the_run_are_marked_as_claimed_by_ci(
    environ: dict[str, str], platform: str, url: str
) -> None:
    actual_actor = actor(ARN, environ)
    assert actual_actor.claimed_by_ci == CiRun(platform=platform, user="anna", url=url)
    assert str(actual_actor) == f"assumed-role/Deploy/anna ({platform} claims: anna)"
    assert "secret" not in actual_actor.model_dump_json()


def test_who_ran_a_job_of_github_again_comes_before_who_started_it() -> None:
    run = actor(ARN, GITHUB | {"GITHUB_TRIGGERING_ACTOR": "ben"}).claimed_by_ci
    assert run is not None
    assert run.user == "ben"


@pytest.mark.parametrize("value", ["", "  ", "an\nna", "\x1b[2J"])
def test_a_variable_that_is_no_name_is_left_out(value: str) -> None:
    actual_actor = actor(ARN, GITLAB | {"GITLAB_USER_LOGIN": value})
    assert actual_actor.claimed_by_ci == CiRun(platform="GitLab", url=GITLAB["CI_JOB_URL"])


def test_an_actor_survives_the_way_to_the_bucket_and_back() -> None:
    actual_actor = actor(ARN, GITHUB)
    assert Actor.model_validate_json(actual_actor.model_dump_json(exclude_none=True)) == actual_actor


@pytest.mark.parametrize(
    ("value", "runs_in_ci"), [("true", True), ("1", True), ("", False), ("false", False)]
)
def test_the_variable_ci_says_whether_somebody_can_answer(value: str, runs_in_ci: bool) -> None:
    assert is_ci({"CI": value}) is runs_in_ci
    assert not is_ci({})
