"""Permissions of each build of engines: the statements of the roles that Foundation has for builds and jobs."""

from __future__ import annotations

import re

from aws_cdk.assertions import Template

from tests.support.engine_templates import (
    ENGINES,
    JOB,
    foundation,
    granted_to_jobs,
    job_role_parameter,
    project_statements,
)
from tests.synth.resources import BUCKET

KEY = "arn:aws:kms:us-east-1:111122223333:key/1234abcd"
PLAN, MANIFEST = f"{ENGINES}/plans/*/model.plan", f"{ENGINES}/plans/*/manifest.json"
PULL = ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]
RELEASES = [
    f"arn:aws:ecr:us-east-1:{account}:repository/sagemaker-tritonserver"
    for account in ("763104351884", "785573368785")
]
LOGS = "arn:aws:logs:us-east-1:111122223333:log-group:"


class TestRoles:
    def test_a_job_moves_the_files_of_jobs_and_reaches_no_engine_no_model_and_no_archive(
        self, plain: Template
    ) -> None:
        values = granted_to_jobs(plain)
        assert {sid: (value["Action"], value["Resource"]) for sid, value in values.items()} == {
            "MoveFiles": (["s3:AbortMultipartUpload", "s3:GetObject", "s3:PutObject"], f"{ENGINES}/jobs/*"),
            "ListFiles": ("s3:ListBucket", f"arn:aws:s3:::{BUCKET}"),
            "LogInToRegistry": ("ecr:GetAuthorizationToken", "*"),
            "PullImage": (PULL, RELEASES),
            "WriteLogs": (values["WriteLogs"]["Action"], values["WriteLogs"]["Resource"]),
            "PublishJobMetrics": ("cloudwatch:PutMetricData", "*"),
        }
        assert values["ListFiles"]["Condition"] == {"StringLike": {"s3:prefix": "engines/jobs/*"}}
        namespaces = ["/aws/sagemaker/ProcessingJobs", "/aws/sagemaker/TrainingJobs"]
        condition = {"StringEquals": {"cloudwatch:namespace": namespaces}}
        assert values["PublishJobMetrics"]["Condition"] == condition
        assert all(
            re.search(":log-group:/aws/sagemaker/(Processing|Training)Jobs", item)
            for item in values["WriteLogs"]["Resource"]
        )

    def test_a_job_pulls_the_environments_images_only_where_they_may_build(self) -> None:
        values = granted_to_jobs(foundation(engine_builds={"own_images": True}))
        own = "arn:aws:ecr:us-east-1:111122223333:repository/triton-fleet-dev"
        assert values["PullImage"]["Resource"] == [*RELEASES, own]

    def test_the_build_that_starts_jobs_hands_them_files_and_stores_engines(self, plain: Template) -> None:
        values = project_statements(plain, JOB)
        s3 = {sid: value for sid, value in values.items() if "s3:" in str(value["Action"])}
        assert {sid: (entry["Action"], entry["Resource"]) for sid, entry in s3.items()} == {
            "ReadEngines": ("s3:GetObject", [f"{ENGINES}/onnx/*", f"{ENGINES}/plans/*"]),
            "WriteEngines": ("s3:PutObject", [PLAN, MANIFEST]),
            "UploadParts": ("s3:PutObject", PLAN),
            "EndUploads": ("s3:AbortMultipartUpload", PLAN),
            "WriteFailures": ("s3:PutObject", f"{ENGINES}/plans/*/failure.json"),
            "HandOverJobs": (
                ["s3:AbortMultipartUpload", "s3:DeleteObject", "s3:GetObject", "s3:PutObject"],
                f"{ENGINES}/jobs/*",
            ),
            "SeeBucket": ("s3:ListBucket", f"arn:aws:s3:::{BUCKET}"),
            "FetchSource": (["s3:GetObject", "s3:GetObjectVersion"], f"{ENGINES}/scripts/*"),
            "SeeSource": (["s3:GetBucketAcl", "s3:GetBucketLocation"], f"arn:aws:s3:::{BUCKET}"),
        }

    def test_it_replaces_neither_a_plan_nor_a_manifest_that_is_there(self, plain: Template) -> None:
        """A part of an upload takes no condition; what completes the upload does."""
        conditions = {
            sid: value.get("Condition")
            for sid, value in project_statements(plain, JOB).items()
            if "s3:PutObject" in str(value["Action"]) and PLAN in value["Resource"]
        }
        assert conditions == {
            "WriteEngines": {"Null": {"s3:if-none-match": "false"}},
            "UploadParts": {"Bool": {"s3:ObjectCreationOperation": "false"}},
        }

    def test_the_key_is_used_through_s3_alone(self, keyed_template: Template) -> None:
        for values in (project_statements(keyed_template, JOB), granted_to_jobs(keyed_template)):
            through = {"StringEquals": {"kms:ViaService": "s3.us-east-1.amazonaws.com"}}
            assert values["UseKey"]["Condition"] == through

    def test_a_build_that_starts_a_job_starts_jobs_of_engines_alone(self, plain: Template) -> None:
        values = project_statements(plain, JOB)
        assert values["RunJobs"]["Action"] == [
            "sagemaker:CreateProcessingJob",
            "sagemaker:CreateTrainingJob",
            "sagemaker:DescribeProcessingJob",
            "sagemaker:DescribeTrainingJob",
            "sagemaker:StopProcessingJob",
            "sagemaker:StopTrainingJob",
            "sagemaker:AddTags",
        ]
        assert values["RunJobs"]["Resource"] == [
            "arn:aws:sagemaker:us-east-1:111122223333:processing-job/engine-*",
            "arn:aws:sagemaker:us-east-1:111122223333:training-job/engine-*",
        ]
        assert values["ReadJobLogs"]["Resource"] == [
            f"{LOGS}/aws/sagemaker/ProcessingJobs:log-stream:engine-*",
            f"{LOGS}/aws/sagemaker/TrainingJobs:log-stream:engine-*",
        ]
        assert not [value for value in values.values() if "ecr:" in str(value["Action"])]

    def test_it_passes_the_role_of_jobs_and_no_other_and_to_sagemaker_alone(self, plain: Template) -> None:
        job_role = project_statements(plain, JOB)["PassJobRole"]
        assert job_role == {
            "Sid": "PassJobRole",
            "Effect": "Allow",
            "Action": "iam:PassRole",
            "Resource": job_role_parameter(plain)["Value"],
            "Condition": {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}},
        }
        assert not [sid for sid, rule in granted_to_jobs(plain).items() if "iam:" in str(rule["Action"])]

    def test_each_uses_the_environments_key_and_jobs_encrypt_their_volumes_with_it(
        self, keyed_template: Template
    ) -> None:
        actions = {
            title: {sid: rule["Action"] for sid, rule in rules.items() if "kms:" in str(rule["Action"])}
            for title, rules in (
                ("starter", project_statements(keyed_template, JOB)),
                ("job", granted_to_jobs(keyed_template)),
            )
        }
        use = {"UseKey": ["kms:Decrypt", "kms:GenerateDataKey"]}
        volume = {"SeeVolumeKey": "kms:DescribeKey", "GrantVolumeKey": "kms:CreateGrant"}
        assert actions == {"starter": use, "job": use | volume}
        volume_key = granted_to_jobs(keyed_template)["GrantVolumeKey"]
        assert volume_key["Resource"] == KEY
        assert volume_key["Condition"] == {"Bool": {"kms:GrantIsForAWSResource": "true"}}

    def test_only_this_accounts_builds_and_jobs_take_them_on(self, plain: Template) -> None:
        roles = plain.find_resources("AWS::IAM::Role")
        conditions = {
            role["Properties"]["AssumeRolePolicyDocument"]["Statement"][0]["Principal"]["Service"]: role[
                "Properties"
            ]["AssumeRolePolicyDocument"]["Statement"][0].get("Condition")
            for id, role in roles.items()
            if id.startswith("EngineBuild")
        }
        condition = {"StringEquals": {"aws:SourceAccount": "111122223333"}}
        assert conditions == {"codebuild.amazonaws.com": condition, "sagemaker.amazonaws.com": condition}
