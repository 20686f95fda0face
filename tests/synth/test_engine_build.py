"""Foundation's parts for builds of engines: projects, and who hears of failures."""

from __future__ import annotations

import re

import yaml
from aws_cdk.assertions import Template

from tests.support.engine_templates import (
    JOB,
    engine_projects,
    failure_rule,
    foundation,
)
from tests.support.fleet_folder import ROOT

KEY = "arn:aws:kms:us-east-1:111122223333:key/1234abcd"


class TestProjects:
    def test_it_runs_the_commands_of_a_file_that_a_person_can_run(self, plain: Template) -> None:
        source = engine_projects(plain)[JOB]["Source"]
        assert source["Type"] == "NO_SOURCE"
        assert source["BuildSpec"] == (ROOT / "engine_build" / "job.buildspec.yaml").read_text()
        (command,) = yaml.safe_load(source["BuildSpec"])["phases"]["build"]["commands"]
        assert '"$FLEET_ENGINE_REQUEST"' in command

    def test_it_runs_in_codebuilds_own_image_and_never_in_that_of_an_endpoint(self, plain: Template) -> None:
        (environment,) = [engine_project["Environment"] for engine_project in engine_projects(plain).values()]
        assert environment["Image"].startswith("aws/codebuild/")
        assert (environment["Type"], environment["ComputeType"]) == (
            "LINUX_CONTAINER",
            "BUILD_GENERAL1_SMALL",
        )
        assert environment["ImagePullCredentialsType"] == "CODEBUILD"
        assert not environment["PrivilegedMode"]
        assert "EnvironmentVariables" not in environment

    def test_builds_have_the_environments_time_and_some_more(
        self, plain: Template, keyed_template: Template
    ) -> None:
        limits = [
            {
                name: engine_project["TimeoutInMinutes"]
                for name, engine_project in engine_projects(template).items()
            }
            for template in (plain, keyed_template)
        ]
        assert limits == [{JOB: 90}, {JOB: 150}]

    def test_they_have_no_limit_so_that_codebuild_queues_what_is_beyond_the_accounts(
        self, plain: Template
    ) -> None:
        assert not [
            engine_project
            for engine_project in engine_projects(plain).values()
            if "ConcurrentBuildLimit" in engine_project
        ]

    def test_the_longest_build_is_one_that_codebuild_takes(self) -> None:
        template = foundation(engine_builds={"timeout": "2130m"})
        assert (
            max(engine_project["TimeoutInMinutes"] for engine_project in engine_projects(template).values())
            == 2160
        )

    def test_it_writes_a_log_that_does_not_last_for_ever(
        self, plain: Template, keyed_template: Template
    ) -> None:
        groups = plain.find_resources("AWS::Logs::LogGroup")
        (id,) = [
            id
            for id, group in groups.items()
            if group["Properties"].get("LogGroupName") == "/triton-fleet/dev/engines"
        ]
        assert groups[id]["Properties"]["RetentionInDays"] == 30
        for engine_project in engine_projects(plain).values():
            assert engine_project["LogsConfig"] == {
                "CloudWatchLogs": {"Status": "ENABLED", "GroupName": {"Ref": id}}
            }
        assert keyed_template.find_resources("AWS::Logs::LogGroup")[id]["Properties"]["KmsKeyId"] == KEY

    def test_the_environments_key_encrypts_where_there_is_one(
        self, plain: Template, keyed_template: Template
    ) -> None:
        default = "arn:aws:kms:us-east-1:111122223333:alias/aws/s3"
        assert {engine_project["EncryptionKey"] for engine_project in engine_projects(plain).values()} == {
            default
        }
        assert {
            engine_project["EncryptionKey"] for engine_project in engine_projects(keyed_template).values()
        } == {KEY}


class TestFailures:
    def test_those_of_the_project_are_told_to_who_hears_of_warnings(self, plain: Template) -> None:
        rule = failure_rule(plain, "engine")
        pattern = rule["EventPattern"]
        assert pattern == {
            "source": ["aws.codebuild"],
            "detail-type": ["CodeBuild Build State Change"],
            "detail": {"build-status": ["FAILED", "FAULT", "TIMED_OUT"], "project-name": [JOB]},
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
        policies = [
            resource["Properties"] for resource in plain.find_resources("AWS::SNS::TopicPolicy").values()
        ]
        allowed_statements = [
            statement
            for policy in policies
            for statement in policy["PolicyDocument"]["Statement"]
            if statement["Principal"] == {"Service": "events.amazonaws.com"}
        ]
        # EventBridge supports no Condition in a topic's policy: with one, nothing is published.
        assert allowed_statements == [
            {
                "Sid": "PublishEngineFailures",
                "Effect": "Allow",
                "Principal": {"Service": "events.amazonaws.com"},
                "Action": "sns:Publish",
                "Resource": failure_rule(plain, "engine")["Targets"][0]["Arn"],
            }
        ]
