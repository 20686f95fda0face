"""What Foundation has for builds of engines: projects, what each may do, and who hears of failures."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from aws_cdk import App
from aws_cdk.assertions import Template

from fleet.endpoint.resolve import place_of
from fleet.endpoint.resolved_endpoint import ResolvedFleet
from fleet.spec.environment import Environment
from fleet_folder import ROOT
from stacks.fleet_app import add_fleet
from tests.synth.resources import BUCKET

KEY = "arn:aws:kms:us-east-1:111122223333:key/1234abcd"
FLEET = "arn:aws:codebuild:us-east-1:111122223333:fleet/gpus:11111111-2222-3333-4444-555555555555"
ENGINES = f"arn:aws:s3:::{BUCKET}/engines"
PLAN, MANIFEST = f"{ENGINES}/plans/*/model.plan", f"{ENGINES}/plans/*/manifest.json"
RECORDS = [f"{ENGINES}/plans/*/failure.json", f"{ENGINES}/timing/*"]
LOGS = "arn:aws:logs:us-east-1:111122223333:log-group:"
GPU, JOB = "triton-fleet-dev-engines-gpu", "triton-fleet-dev-engines-job"


def foundation(region: str = "us-east-1", **keys: Any) -> Template:
    """Foundation of an environment with these keys, past cdk-nag."""
    environment = Environment.model_validate(
        {"environment": "dev", "account": "111122223333", "region": region, **keys}
    )
    app = App()
    add_fleet(app, ResolvedFleet(place=place_of(environment), endpoints=()))
    (stack,) = app.synth().stacks
    return Template.from_json(stack.template)


def projects(template: Template) -> dict[str, dict[str, Any]]:
    found = template.find_resources("AWS::CodeBuild::Project").values()
    return {each["Properties"]["Name"]: each["Properties"] for each in found}


def granted(template: Template, project: str) -> dict[str, dict[str, Any]]:
    """The statements of a project's role."""
    return _statements(template, projects(template)[project]["ServiceRole"]["Fn::GetAtt"][0])


def granted_to_jobs(template: Template) -> dict[str, dict[str, Any]]:
    """Those of the role that jobs run as."""
    return _statements(template, _parameter(template)["Value"]["Fn::GetAtt"][0])


def _statements(template: Template, role: str) -> dict[str, dict[str, Any]]:
    policies = template.find_resources("AWS::IAM::Policy").values()
    (policy,) = [each["Properties"] for each in policies if {"Ref": role} in each["Properties"]["Roles"]]
    return {each["Sid"]: each for each in policy["PolicyDocument"]["Statement"]}


def _parameter(template: Template) -> dict[str, Any]:
    parameters = template.find_resources("AWS::SSM::Parameter").values()
    (found,) = [
        each["Properties"]
        for each in parameters
        if each["Properties"]["Name"] == "/triton-fleet/dev/engine-job-role"
    ]
    return dict(found)


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
        source = projects(plain)[name]["Source"]
        assert source["Type"] == "NO_SOURCE"
        assert source["BuildSpec"] == (ROOT / "engine_build" / f"{file}.buildspec.yaml").read_text()
        (command,) = yaml.safe_load(source["BuildSpec"])["phases"]["build"]["commands"]
        assert '"$FLEET_ENGINE_REQUEST"' in command

    def test_one_has_a_single_gpu_and_the_other_none(self, plain: Template) -> None:
        found = {name: each["Environment"] for name, each in projects(plain).items()}
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
            {name: each["TimeoutInMinutes"] for name, each in projects(made).items()}
            for made in (plain, keyed)
        ]
        assert limits == [{GPU: 75, JOB: 90}, {GPU: 135, JOB: 150}]

    def test_they_have_no_limit_so_that_codebuild_queues_what_is_beyond_the_accounts(
        self, plain: Template
    ) -> None:
        assert not [each for each in projects(plain).values() if "ConcurrentBuildLimit" in each]

    def test_the_longest_build_is_one_that_codebuild_takes(self) -> None:
        made = foundation(engine_builds={"timeout": "2130m"})
        assert max(each["TimeoutInMinutes"] for each in projects(made).values()) == 2160

    def test_both_write_one_log_that_does_not_last_for_ever(self, plain: Template, keyed: Template) -> None:
        groups = plain.find_resources("AWS::Logs::LogGroup")
        (id,) = [
            id
            for id, each in groups.items()
            if each["Properties"].get("LogGroupName") == "/triton-fleet/dev/engines"
        ]
        assert groups[id]["Properties"]["RetentionInDays"] == 30
        for each in projects(plain).values():
            assert each["LogsConfig"] == {"CloudWatchLogs": {"Status": "ENABLED", "GroupName": {"Ref": id}}}
        assert keyed.find_resources("AWS::Logs::LogGroup")[id]["Properties"]["KmsKeyId"] == KEY

    def test_the_environments_key_encrypts_where_there_is_one(self, plain: Template, keyed: Template) -> None:
        default = "arn:aws:kms:us-east-1:111122223333:alias/aws/s3"
        assert {each["EncryptionKey"] for each in projects(plain).values()} == {default}
        assert {each["EncryptionKey"] for each in projects(keyed).values()} == {KEY}


class TestRegions:
    ELSEWHERE = "eu-west-3"

    def test_where_codebuild_has_no_gpu_there_is_no_project_that_asks_for_one(self) -> None:
        assert list(projects(foundation(self.ELSEWHERE))) == [JOB]

    def test_a_fleet_of_ones_own_brings_it(self) -> None:
        arn = FLEET.replace("us-east-1", self.ELSEWHERE)
        assert set(projects(foundation(self.ELSEWHERE, engine_builds={"fleets": {"g5": arn}}))) == {GPU, JOB}


class TestRoles:
    def test_a_build_on_a_gpu_reads_what_engines_are_made_of_and_writes_engines(
        self, plain: Template
    ) -> None:
        found = granted(plain, GPU)
        assert {sid: (each["Action"], each["Resource"]) for sid, each in found.items()} == {
            "ReadEngines": ("s3:GetObject", f"{ENGINES}/*"),
            "WriteRecords": (["s3:AbortMultipartUpload", "s3:PutObject"], RECORDS),
            "WriteEngines": ("s3:PutObject", [PLAN, MANIFEST]),
            "UploadParts": ("s3:PutObject", PLAN),
            "EndUploads": ("s3:AbortMultipartUpload", PLAN),
            "SeeBucket": ("s3:ListBucket", f"arn:aws:s3:::{BUCKET}"),
            "FetchSource": (["s3:GetObject", "s3:GetObjectVersion"], f"{ENGINES}/scripts/*"),
            "SeeSource": (["s3:GetBucketAcl", "s3:GetBucketLocation"], f"arn:aws:s3:::{BUCKET}"),
            "LogInToRegistry": ("ecr:GetAuthorizationToken", "*"),
            "PullImage": (
                ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"],
                [
                    f"arn:aws:ecr:us-east-1:{account}:repository/sagemaker-tritonserver"
                    for account in ("763104351884", "785573368785")
                ],
            ),
            "WriteLog": (
                ["logs:CreateLogStream", "logs:PutLogEvents"],
                f"{LOGS}/triton-fleet/dev/engines:*",
            ),
        }

    def test_no_build_replaces_a_plan_or_a_manifest_that_is_there(self, plain: Template) -> None:
        """A part of an upload takes no condition; what completes the upload does."""
        for found in (granted(plain, GPU), granted_to_jobs(plain)):
            conditions = {
                sid: each.get("Condition")
                for sid, each in found.items()
                if "s3:PutObject" in str(each["Action"]) and PLAN in each["Resource"]
            }
            assert conditions == {
                "WriteEngines": {"Null": {"s3:if-none-match": "false"}},
                "UploadParts": {"Bool": {"s3:ObjectCreationOperation": "false"}},
            }

    def test_the_key_is_used_through_s3_alone(self, keyed: Template) -> None:
        for found in (granted(keyed, GPU), granted(keyed, JOB), granted_to_jobs(keyed)):
            through = {"StringEquals": {"kms:ViaService": "s3.us-east-1.amazonaws.com"}}
            assert found["UseKey"]["Condition"] == through

    def test_a_build_that_starts_a_job_starts_jobs_of_engines_alone(self, plain: Template) -> None:
        found = granted(plain, JOB)
        assert found["RunJobs"]["Action"] == [
            "sagemaker:CreateProcessingJob",
            "sagemaker:CreateTrainingJob",
            "sagemaker:DescribeProcessingJob",
            "sagemaker:DescribeTrainingJob",
            "sagemaker:StopProcessingJob",
            "sagemaker:StopTrainingJob",
            "sagemaker:AddTags",
        ]
        assert found["RunJobs"]["Resource"] == [
            "arn:aws:sagemaker:us-east-1:111122223333:processing-job/engine-*",
            "arn:aws:sagemaker:us-east-1:111122223333:training-job/engine-*",
        ]
        assert found["ReadJobLogs"]["Resource"] == [
            f"{LOGS}/aws/sagemaker/ProcessingJobs:log-stream:engine-*",
            f"{LOGS}/aws/sagemaker/TrainingJobs:log-stream:engine-*",
        ]
        assert found["ReadEngines"]["Resource"] == f"{ENGINES}/plans/*"
        assert found["WriteRecords"]["Resource"] == f"{ENGINES}/plans/*/failure.json"
        assert "WriteEngines" not in found
        assert not [each for each in found.values() if "ecr:" in str(each["Action"])]

    def test_it_passes_the_role_of_jobs_and_no_other_and_to_sagemaker_alone(self, plain: Template) -> None:
        found = granted(plain, JOB)["PassJobRole"]
        assert found == {
            "Sid": "PassJobRole",
            "Effect": "Allow",
            "Action": "iam:PassRole",
            "Resource": _parameter(plain)["Value"],
            "Condition": {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}},
        }
        others = (granted(plain, GPU), granted_to_jobs(plain))
        assert not [sid for each in others for sid, rule in each.items() if "iam:" in str(rule["Action"])]

    def test_a_job_may_what_a_build_on_a_gpu_may_and_write_logs_and_metrics_of_jobs(
        self, plain: Template
    ) -> None:
        job, build = granted_to_jobs(plain), granted(plain, GPU)
        written = {"WriteEngines", "UploadParts", "EndUploads"}
        shared = {"ReadEngines", "SeeBucket", "LogInToRegistry", "PullImage", *written}
        assert {sid: job[sid] for sid in shared} == {sid: build[sid] for sid in shared}
        assert job.keys() == shared | {"WriteRecords", "WriteLogs", "PublishJobMetrics"}
        namespaces = ["/aws/sagemaker/ProcessingJobs", "/aws/sagemaker/TrainingJobs"]
        assert job["PublishJobMetrics"] == {
            "Sid": "PublishJobMetrics",
            "Effect": "Allow",
            "Action": "cloudwatch:PutMetricData",
            "Resource": "*",
            "Condition": {"StringEquals": {"cloudwatch:namespace": namespaces}},
        }
        assert job["WriteRecords"]["Resource"] == [*RECORDS, f"{ENGINES}/plans/*/job/*"]
        assert all(
            re.search(":log-group:/aws/sagemaker/(Processing|Training)Jobs", each)
            for each in job["WriteLogs"]["Resource"]
        )

    def test_each_uses_the_environments_key_and_jobs_encrypt_their_volumes_with_it(
        self, keyed: Template
    ) -> None:
        found = {
            title: {sid: each["Action"] for sid, each in rules.items() if "kms:" in str(each["Action"])}
            for title, rules in (
                ("gpu", granted(keyed, GPU)),
                ("starter", granted(keyed, JOB)),
                ("job", granted_to_jobs(keyed)),
            )
        }
        use = {"UseKey": ["kms:Decrypt", "kms:GenerateDataKey"]}
        volume = {"SeeVolumeKey": "kms:DescribeKey", "GrantVolumeKey": "kms:CreateGrant"}
        assert found == {"gpu": use, "starter": use, "job": use | volume}
        granting = granted_to_jobs(keyed)["GrantVolumeKey"]
        assert granting["Resource"] == KEY
        assert granting["Condition"] == {"Bool": {"kms:GrantIsForAWSResource": "true"}}

    def test_only_this_accounts_builds_and_jobs_take_them_on(self, plain: Template) -> None:
        roles = plain.find_resources("AWS::IAM::Role")
        trusted = {
            each["Properties"]["AssumeRolePolicyDocument"]["Statement"][0]["Principal"]["Service"]: each[
                "Properties"
            ]["AssumeRolePolicyDocument"]["Statement"][0].get("Condition")
            for id, each in roles.items()
            if id.startswith("EngineBuild")
        }
        condition = {"StringEquals": {"aws:SourceAccount": "111122223333"}}
        assert trusted == {"codebuild.amazonaws.com": condition, "sagemaker.amazonaws.com": condition}


class TestFailures:
    def test_those_of_both_projects_are_told_to_who_hears_of_warnings(self, plain: Template) -> None:
        (rule,) = plain.find_resources("AWS::Events::Rule").values()
        pattern = rule["Properties"]["EventPattern"]
        assert pattern == {
            "source": ["aws.codebuild"],
            "detail-type": ["CodeBuild Build State Change"],
            "detail": {"build-status": ["FAILED", "FAULT", "TIMED_OUT"], "project-name": [GPU, JOB]},
        }
        (target,) = rule["Properties"]["Targets"]
        assert target["Arn"]["Ref"].startswith("AlarmTopicsWarning")
        assert "RoleArn" not in target

    def test_the_text_names_what_the_event_tells_and_nothing_else(self, plain: Template) -> None:
        (rule,) = plain.find_resources("AWS::Events::Rule").values()
        transformer = rule["Properties"]["Targets"][0]["InputTransformer"]
        assert set(re.findall(r"<([a-z]+)>", transformer["InputTemplate"])) == set(
            transformer["InputPathsMap"]
        )
        # EventBridge takes a text in quotation marks, or JSON.
        assert re.fullmatch(r'"[^"\n]+"', transformer["InputTemplate"])

    def test_the_topic_of_warnings_lets_eventbridge_publish_without_a_condition_and_the_other_does_not(
        self, plain: Template
    ) -> None:
        (rule,) = plain.find_resources("AWS::Events::Rule").values()
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
                "Resource": rule["Properties"]["Targets"][0]["Arn"],
            }
        ]
