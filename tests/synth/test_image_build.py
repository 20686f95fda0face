"""Foundation's parts for builds of images, and those of an endpoint that runs one of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
import yaml
from aws_cdk.assertions import Template

from tests.support.engine_templates import IMAGES, JOB, failure_rule, foundation, project_statements, projects
from tests.support.fleet_folder import ROOT, FleetFolder
from tests.support.own_images import BUILT_IMAGE, DIGEST, KEY, OWN_IMAGE, REGISTRY, lock_image
from tests.synth.conftest import templates
from tests.synth.resources import BUCKET, STACK, only_resource, statements
from triton_endpoints.acknowledgements import CHECKOV
from triton_fleet.findings import Severity

KMS = "arn:aws:kms:us-east-1:111122223333:key/1234abcd"
BUCKET_ARN = f"arn:aws:s3:::{BUCKET}"
REPOSITORY = "arn:aws:ecr:us-east-1:111122223333:repository"
OWN = f"{REPOSITORY}/triton-fleet-dev"
PULL = ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]


class TestRepository:
    def test_it_is_named_by_the_environment_scanned_on_push_and_no_tag_of_it_moves(
        self, plain: Template
    ) -> None:
        properties = only_resource(plain, "AWS::ECR::Repository")["Properties"]
        assert properties["RepositoryName"] == "triton-fleet-dev"
        assert properties["ImageScanningConfiguration"] == {"ScanOnPush": True}
        assert properties["ImageTagMutability"] == "IMMUTABLE"
        assert "RepositoryPolicyText" not in properties

    def test_what_has_a_tag_never_expires(self, plain: Template) -> None:
        policy = only_resource(plain, "AWS::ECR::Repository")["Properties"]["LifecyclePolicy"]
        (rule,) = json.loads(policy["LifecyclePolicyText"])["rules"]
        assert rule["selection"] == {
            "tagStatus": "untagged",
            "countType": "sinceImagePushed",
            "countUnit": "days",
            "countNumber": 14,
        }
        assert rule["action"] == {"type": "expire"}

    def test_the_environments_key_encrypts_it_else_ecrs_own(
        self, plain: Template, keyed_template: Template
    ) -> None:
        encryption_configurations = [
            only_resource(template, "AWS::ECR::Repository")["Properties"]["EncryptionConfiguration"]
            for template in (plain, keyed_template)
        ]
        assert encryption_configurations == [
            {"EncryptionType": "AES256"},
            {"EncryptionType": "KMS", "KmsKey": KMS},
        ]

    def test_it_outlives_its_stack_but_not_a_first_deploy_that_failed(self, plain: Template) -> None:
        values = only_resource(plain, "AWS::ECR::Repository")
        assert values["DeletionPolicy"] == "RetainExceptOnCreate"
        assert values["UpdateReplacePolicy"] == "Retain"

    def test_checkov_has_a_reason_for_the_missing_key_and_for_nothing_else_of_it(
        self, plain: Template
    ) -> None:
        (id,) = plain.find_resources("AWS::ECR::Repository")
        form = f"AWS::ECR::Repository.{id}"
        assert [item.check for item in CHECKOV if re.fullmatch(item.form, form)] == ["CKV_AWS_136"]


class TestProject:
    def test_it_runs_the_commands_of_a_file_and_has_no_source_or_artifact(self, plain: Template) -> None:
        project = projects(plain)[IMAGES]
        buildspec = (ROOT / "engine_build" / "image.buildspec.yaml").read_text()
        assert project["Source"] == {"Type": "NO_SOURCE", "BuildSpec": buildspec}
        assert project["Artifacts"] == {"Type": "NO_ARTIFACTS"}
        (command,) = yaml.safe_load(buildspec)["phases"]["build"]["commands"]
        assert '"$FLEET_IMAGE_REQUEST"' in command

    def test_it_alone_has_a_docker_daemon_on_a_machine_with_disk_for_an_image(self, plain: Template) -> None:
        assert projects(plain)[IMAGES]["Environment"] == {
            "Type": "LINUX_CONTAINER",
            "ComputeType": "BUILD_GENERAL1_MEDIUM",
            "Image": "aws/codebuild/amazonlinux-x86_64-standard:5.0",
            "ImagePullCredentialsType": "CODEBUILD",
            "PrivilegedMode": True,
        }
        other_modes = [projects(plain)[JOB]["Environment"]["PrivilegedMode"]]
        assert other_modes == [False]

    def test_builds_have_the_environments_time_and_some_more(
        self, plain: Template, keyed_template: Template
    ) -> None:
        assert [projects(template)[IMAGES]["TimeoutInMinutes"] for template in (plain, keyed_template)] == [
            75,
            135,
        ]

    def test_the_environments_key_encrypts_what_codebuild_keeps(
        self, plain: Template, keyed_template: Template
    ) -> None:
        default = "arn:aws:kms:us-east-1:111122223333:alias/aws/s3"
        keys = [projects(template)[IMAGES]["EncryptionKey"] for template in (plain, keyed_template)]
        assert keys == [default, KMS]

    def test_it_writes_a_log_of_its_own_that_does_not_last_for_ever(
        self, plain: Template, keyed_template: Template
    ) -> None:
        logs = projects(plain)[IMAGES]["LogsConfig"]["CloudWatchLogs"]
        assert logs["Status"] == "ENABLED"
        groups = [template.find_resources("AWS::Logs::LogGroup") for template in (plain, keyed_template)]
        group, with_key = [group[logs["GroupName"]["Ref"]]["Properties"] for group in groups]
        assert (group["LogGroupName"], group["RetentionInDays"]) == ("/triton-fleet/dev/images", 30)
        assert with_key["KmsKeyId"] == KMS

    def test_images_are_built_where_codebuild_has_no_gpu(self) -> None:
        assert IMAGES in projects(foundation("eu-west-3"))


class TestRole:
    def test_a_build_reads_contexts_and_requests_and_writes_an_image_and_its_record(
        self, plain: Template
    ) -> None:
        values = project_statements(plain, IMAGES)
        assert {sid: (value["Action"], value["Resource"]) for sid, value in values.items()} == {
            "ReadContexts": (
                "s3:GetObject",
                [f"{BUCKET_ARN}/images/contexts/*", f"{BUCKET_ARN}/images/built/*"],
            ),
            "WriteFailures": (
                "s3:PutObject",
                [f"{BUCKET_ARN}/images/built/*/draft.json", f"{BUCKET_ARN}/images/built/*/failure.json"],
            ),
            "WriteManifests": ("s3:PutObject", f"{BUCKET_ARN}/images/built/*/manifest.json"),
            "SeeBucket": ("s3:ListBucket", BUCKET_ARN),
            "FetchSource": (["s3:GetObject", "s3:GetObjectVersion"], f"{BUCKET_ARN}/engines/scripts/*"),
            "SeeSource": (["s3:GetBucketAcl", "s3:GetBucketLocation"], BUCKET_ARN),
            "LogInToRegistry": ("ecr:GetAuthorizationToken", "*"),
            "PullImage": (
                PULL,
                [
                    "arn:aws:ecr:us-east-1:763104351884:repository/sagemaker-tritonserver",
                    "arn:aws:ecr:us-east-1:785573368785:repository/sagemaker-tritonserver",
                ],
            ),
            "PushImage": (
                [
                    "ecr:BatchCheckLayerAvailability",
                    "ecr:BatchGetImage",
                    "ecr:CompleteLayerUpload",
                    "ecr:DescribeImages",
                    "ecr:InitiateLayerUpload",
                    "ecr:PutImage",
                    "ecr:UploadLayerPart",
                ],
                OWN,
            ),
            "WriteLog": (
                ["logs:CreateLogStream", "logs:PutLogEvents"],
                "arn:aws:logs:us-east-1:111122223333:log-group:/triton-fleet/dev/images:*",
            ),
        }

    def test_no_build_reads_the_layers_of_an_image_that_the_fleet_has_built(self, plain: Template) -> None:
        reading = [
            value["Resource"]
            for value in project_statements(plain, IMAGES).values()
            if "ecr:GetDownloadUrlForLayer" in value["Action"]
        ]
        assert len(reading) == 1
        assert OWN not in reading[0]

    def test_a_build_pulls_from_the_accounts_that_the_environment_allows_but_not_from_its_own(self) -> None:
        allowed_texts = ["444455556666", "111122223333", "registry.example.com", "docker.io/library"]
        values = project_statements(foundation(allowed_registries=allowed_texts), IMAGES)["PullAllowed"]
        assert (values["Action"], values["Resource"]) == (
            PULL,
            "arn:aws:ecr:us-east-1:444455556666:repository/*",
        )

    def test_no_build_replaces_a_record_that_exists_or_deletes_anything(self, plain: Template) -> None:
        values = project_statements(plain, IMAGES)
        conditions = {sid: value["Condition"] for sid, value in values.items() if "Condition" in value}
        assert conditions == {"WriteManifests": {"Null": {"s3:if-none-match": "false"}}}
        assert not re.search(r":\w*Delete|Abort", str([value["Action"] for value in values.values()]))

    def test_no_role_but_its_own_pushes_images(self, plain: Template) -> None:
        resources = [
            statement["Resource"]
            for policy in plain.find_resources("AWS::IAM::Policy").values()
            for statement in policy["Properties"]["PolicyDocument"]["Statement"]
            if "ecr:PutImage" in statement["Action"]
        ]
        assert resources == [OWN]

    def test_it_uses_the_environments_key_through_s3_alone(self, keyed_template: Template) -> None:
        assert project_statements(keyed_template, IMAGES)["UseKey"] == {
            "Sid": "UseKey",
            "Effect": "Allow",
            "Action": ["kms:Decrypt", "kms:GenerateDataKey"],
            "Resource": KMS,
            "Condition": {"StringEquals": {"kms:ViaService": "s3.us-east-1.amazonaws.com"}},
        }

    def test_only_this_accounts_builds_take_it_on(self, plain: Template) -> None:
        role = projects(plain)[IMAGES]["ServiceRole"]["Fn::GetAtt"][0]
        properties = plain.find_resources("AWS::IAM::Role")[role]["Properties"]
        (trust,) = properties["AssumeRolePolicyDocument"]["Statement"]
        assert trust["Principal"] == {"Service": "codebuild.amazonaws.com"}
        assert trust["Condition"] == {"StringEquals": {"aws:SourceAccount": "111122223333"}}


class TestFailures:
    def test_they_are_reported_to_the_topic_of_warnings(self, plain: Template) -> None:
        rule = failure_rule(plain, "image")
        assert rule["EventPattern"] == {
            "source": ["aws.codebuild"],
            "detail-type": ["CodeBuild Build State Change"],
            "detail": {"build-status": ["FAILED", "FAULT", "TIMED_OUT"], "project-name": [IMAGES]},
        }
        (target,) = rule["Targets"]
        assert target["Arn"] == failure_rule(plain, "engine")["Targets"][0]["Arn"]

    def test_the_text_names_the_image_and_only_what_the_event_has(self, plain: Template) -> None:
        transformer = failure_rule(plain, "image")["Targets"][0]["InputTransformer"]
        template = transformer["InputTemplate"]
        assert template.startswith('"The build of a container image ended as <status>')
        assert set(re.findall(r"<([a-z]+)>", template)) == set(transformer["InputPathsMap"])
        assert re.fullmatch(r'"[^"\n]+"', template)


MakeTemplate = Callable[..., Template]


class TestEndpoint:
    @pytest.fixture
    def image_build_parts(self, folder: FleetFolder) -> MakeTemplate:
        def synth(keys: str, **lock: str) -> Template:
            folder.spec(keys)
            lock_image(folder, **lock)
            return templates(folder)[STACK]

        return synth

    def test_it_runs_what_was_built_by_the_digest_of_the_lock(self, image_build_parts: MakeTemplate) -> None:
        template = image_build_parts(BUILT_IMAGE, key=KEY)
        container = only_resource(template, "AWS::SageMaker::Model")["Properties"]["PrimaryContainer"]
        assert container["Image"] == f"{REGISTRY}/triton-fleet-dev@{DIGEST}"
        assert statements(template)["PullImage"]["Action"] == PULL
        assert statements(template)["PullImage"]["Resource"] == OWN

    def test_it_runs_an_image_that_exists_by_its_digest(self, image_build_parts: MakeTemplate) -> None:
        template = image_build_parts(OWN_IMAGE)
        container = only_resource(template, "AWS::SageMaker::Model")["Properties"]["PrimaryContainer"]
        assert container["Image"] == f"{REGISTRY}/team/detector@{DIGEST}"
        assert statements(template)["PullImage"]["Resource"] == f"{REPOSITORY}/team/detector"

    def test_an_image_of_an_allowed_account_is_pulled_from_that_account(
        self, folder: FleetFolder, image_build_parts: MakeTemplate
    ) -> None:
        folder.environment('allowed_registries: ["444455556666"]\n')
        template = image_build_parts(OWN_IMAGE.replace("111122223333", "444455556666"))
        granted_resource = statements(template)["PullImage"]["Resource"]
        assert granted_resource == "arn:aws:ecr:us-east-1:444455556666:repository/team/detector"

    def test_an_image_of_an_account_that_is_not_allowed_is_refused(self, folder: FleetFolder) -> None:
        folder.spec(OWN_IMAGE.replace("111122223333", "444455556666"))
        lock_image(folder)
        assert "FL971" in {
            finding.code for finding in folder.findings() if finding.severity is Severity.ERROR
        }

    def test_foundation_is_the_same_whatever_images_endpoints_run(self, folder: FleetFolder) -> None:
        before = templates(folder)["triton-fleet-dev"].to_json()
        folder.spec(BUILT_IMAGE)
        lock_image(folder, key=KEY)
        assert templates(folder)["triton-fleet-dev"].to_json() == before
