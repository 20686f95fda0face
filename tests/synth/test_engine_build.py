"""What Foundation has for builds of engines: projects, and who hears of failures."""

from __future__ import annotations

import re

import pytest
import yaml
from aws_cdk.assertions import Template

from engine_templates import (
    GPU,
    JOB,
    engine_projects,
    failure_rule,
    foundation,
)
from fleet_folder import ROOT

KEY = "arn:aws:kms:us-east-1:111122223333:key/1234abcd"
FLEET = "arn:aws:codebuild:us-east-1:111122223333:fleet/gpus:11111111-2222-3333-4444-555555555555"


@pytest.fixture(scope="module")
def plain() -> Template:
    return foundation()


@pytest.fixture(scope="module")
def keyed() -> Template:
    """An environment with a key, which says how engines are built."""
    return foundation(kms_key=KEY, engine_builds={"timeout": "2h"})


class TestProjects:
    @pytest.mark.parametrize(("name", "file"), [(GPU, "gpu"), (JOB, "job")])
    def test_each_runs_the_commands_of_a_file_that_a_person_can_run(
        self, plain: Template, name: str, file: str
    ) -> None:
        source = engine_projects(plain)[name]["Source"]
        assert source["Type"] == "NO_SOURCE"
        assert source["BuildSpec"] == (ROOT / "engine_build" / f"{file}.buildspec.yaml").read_text()
        (command,) = yaml.safe_load(source["BuildSpec"])["phases"]["build"]["commands"]
        assert '"$FLEET_ENGINE_REQUEST"' in command

    def test_one_has_a_single_gpu_and_the_other_none(self, plain: Template) -> None:
        found = {name: each["Environment"] for name, each in engine_projects(plain).items()}
        assert {(name, each["Type"], each["ComputeType"]) for name, each in found.items()} == {
            (GPU, "LINUX_GPU_CONTAINER", "BUILD_GENERAL1_SMALL"),
            (JOB, "LINUX_CONTAINER", "BUILD_GENERAL1_SMALL"),
        }
        assert not any(each["PrivilegedMode"] for each in found.values())
        # AWS's Triton images are pulled with the project's role, CodeBuild's own without.
        assert found[GPU]["ImagePullCredentialsType"] == "SERVICE_ROLE"
        assert found[JOB]["ImagePullCredentialsType"] == "CODEBUILD"
        assert not any("EnvironmentVariables" in each for each in found.values())

    def test_builds_have_the_environments_time_and_some_more(self, plain: Template, keyed: Template) -> None:
        limits = [
            {name: each["TimeoutInMinutes"] for name, each in engine_projects(made).items()}
            for made in (plain, keyed)
        ]
        assert limits == [{GPU: 75, JOB: 90}, {GPU: 135, JOB: 150}]

    def test_they_have_no_limit_so_that_codebuild_queues_what_is_beyond_the_accounts(
        self, plain: Template
    ) -> None:
        assert not [each for each in engine_projects(plain).values() if "ConcurrentBuildLimit" in each]

    def test_the_longest_build_is_one_that_codebuild_takes(self) -> None:
        made = foundation(engine_builds={"timeout": "2130m"})
        assert max(each["TimeoutInMinutes"] for each in engine_projects(made).values()) == 2160

    def test_both_write_one_log_that_does_not_last_for_ever(self, plain: Template, keyed: Template) -> None:
        groups = plain.find_resources("AWS::Logs::LogGroup")
        (id,) = [
            id
            for id, each in groups.items()
            if each["Properties"].get("LogGroupName") == "/triton-fleet/dev/engines"
        ]
        assert groups[id]["Properties"]["RetentionInDays"] == 30
        for each in engine_projects(plain).values():
            assert each["LogsConfig"] == {"CloudWatchLogs": {"Status": "ENABLED", "GroupName": {"Ref": id}}}
        assert keyed.find_resources("AWS::Logs::LogGroup")[id]["Properties"]["KmsKeyId"] == KEY

    def test_the_environments_key_encrypts_where_there_is_one(self, plain: Template, keyed: Template) -> None:
        default = "arn:aws:kms:us-east-1:111122223333:alias/aws/s3"
        assert {each["EncryptionKey"] for each in engine_projects(plain).values()} == {default}
        assert {each["EncryptionKey"] for each in engine_projects(keyed).values()} == {KEY}


class TestRegions:
    ELSEWHERE = "eu-west-3"

    def test_where_codebuild_has_no_gpu_there_is_no_project_that_asks_for_one(self) -> None:
        assert list(engine_projects(foundation(self.ELSEWHERE))) == [JOB]

    def test_a_fleet_of_ones_own_brings_it(self) -> None:
        arn = FLEET.replace("us-east-1", self.ELSEWHERE)
        assert set(engine_projects(foundation(self.ELSEWHERE, engine_builds={"fleets": {"g5": arn}}))) == {
            GPU,
            JOB,
        }


class TestFailures:
    def test_those_of_both_projects_are_told_to_who_hears_of_warnings(self, plain: Template) -> None:
        rule = failure_rule(plain, "engine")
        pattern = rule["EventPattern"]
        assert pattern == {
            "source": ["aws.codebuild"],
            "detail-type": ["CodeBuild Build State Change"],
            "detail": {"build-status": ["FAILED", "FAULT", "TIMED_OUT"], "project-name": [GPU, JOB]},
        }
        (target,) = rule["Targets"]
        assert target["Arn"]["Ref"].startswith("AlarmTopicsWarning")
        assert "RoleArn" not in target

    def test_the_text_names_what_the_event_tells_and_nothing_else(self, plain: Template) -> None:
        transformer = failure_rule(plain, "engine")["Targets"][0]["InputTransformer"]
        assert set(re.findall(r"<([a-z]+)>", transformer["InputTemplate"])) == set(
            transformer["InputPathsMap"]
        )
        # EventBridge takes a text in quotation marks, or JSON.
        assert re.fullmatch(r'"[^"\n]+"', transformer["InputTemplate"])

    def test_the_topic_of_warnings_lets_eventbridge_publish_without_a_condition_and_the_other_does_not(
        self, plain: Template
    ) -> None:
        policies = [each["Properties"] for each in plain.find_resources("AWS::SNS::TopicPolicy").values()]
        allowed = [
            each
            for policy in policies
            for each in policy["PolicyDocument"]["Statement"]
            if each["Principal"] == {"Service": "events.amazonaws.com"}
        ]
        # EventBridge supports no Condition in a topic's policy: with one, nothing is published.
        assert allowed == [
            {
                "Sid": "PublishEngineFailures",
                "Effect": "Allow",
                "Principal": {"Service": "events.amazonaws.com"},
                "Action": "sns:Publish",
                "Resource": failure_rule(plain, "engine")["Targets"][0]["Arn"],
            }
        ]
