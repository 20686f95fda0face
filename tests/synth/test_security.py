"""Network, captured calls, keys, logs, tags and boundary in the templates, with what each grants to whom."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, Stack, Validations
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Template
from cdk_nag import AwsSolutionsChecks

from endpoint_logs.retry import PAUSE_SECONDS
from tests.support.fleet_folder import ENVIRONMENT, SPEC, FleetFolder
from tests.synth.conftest import Synth, templates
from tests.synth.resources import BUCKET, KINDS, STACK, only_resource, statements
from triton_endpoints.policy import Statement, policy_of

FOUNDATION = "triton-fleet-dev"
VPC = "subnets: [subnet-00000001, subnet-00000002], security_groups: [sg-00000001]"
KEY = "arn:aws:kms:us-east-1:111122223333:key/1234abcd"
THROUGH_S3 = {"StringEquals": {"kms:ViaService": "s3.us-east-1.amazonaws.com"}}
TAG_CONDITION = {"StringEqualsIfExists": {"aws:ResourceTag/triton-fleet:environment": "dev"}}
BOUNDARY = "arn:aws:iam::111122223333:policy/teams/boundary"
CPU = SPEC.replace("ml.g5.xlarge", "ml.c5.xlarge")


def all_statements(template: Template) -> dict[str, dict[str, Any]]:
    """The statements of all policies."""
    policies = template.find_resources("AWS::IAM::Policy").values()
    lines = [
        statement for policy in policies for statement in policy["Properties"]["PolicyDocument"]["Statement"]
    ]
    return {line["Sid"]: line for line in lines if "Sid" in line}


class TestNetwork:
    @pytest.fixture(autouse=True)
    def allow_model_rules(self, folder: FleetFolder) -> None:
        folder.environment("allowed_networks: [subnet-00000001, subnet-00000002, sg-00000001]\n")

    def test_a_vpc_is_the_models(self, template: Synth) -> None:
        stack_template = template(f"network: {{{VPC}}}\n")
        assert only_resource(stack_template, "AWS::SageMaker::Model")["Properties"]["VpcConfig"] == {
            "Subnets": ["subnet-00000001", "subnet-00000002"],
            "SecurityGroupIds": ["sg-00000001"],
        }

    def test_interfaces_are_created_only_in_the_subnets_and_groups_of_the_spec(self, template: Synth) -> None:
        granted_attach = statements(template(f"network: {{{VPC}}}\n"))["AttachToVpc"]
        assert granted_attach["Action"] == "ec2:CreateNetworkInterface"
        assert granted_attach["Resource"] == [
            "arn:aws:ec2:us-east-1:111122223333:network-interface/*",
            "arn:aws:ec2:us-east-1:*:subnet/subnet-00000001",
            "arn:aws:ec2:us-east-1:*:subnet/subnet-00000002",
            "arn:aws:ec2:us-east-1:*:security-group/sg-00000001",
        ]

    def test_only_reading_is_granted_on_all_of_ec2_and_without_conditions(self, template: Synth) -> None:
        actual_statements = statements(template(f"network: {{{VPC}}}\n"))
        of_ec2 = [actual_statements[sid] for sid in ("SeeNetwork", "AttachToVpc", "UseInterfaces")]
        assert [item for item in of_ec2 if "Condition" in item] == []
        everywhere = [entry["Action"] for entry in of_ec2 if entry["Resource"] == "*"]
        assert [action for actions in everywhere for action in actions if ":Describe" not in action] == []
        assert (
            actual_statements["UseInterfaces"]["Resource"]
            == "arn:aws:ec2:us-east-1:111122223333:network-interface/*"
        )

    def test_without_a_vpc_nothing_of_ec2_is_granted(self, template: Synth) -> None:
        stack_template = template()
        assert not {"SeeNetwork", "AttachToVpc", "UseInterfaces"} & statements(stack_template).keys()
        model = only_resource(stack_template, "AWS::SageMaker::Model")["Properties"]
        assert not {"VpcConfig", "EnableNetworkIsolation"} & model.keys()

    def test_isolation_is_the_models(self, template: Synth) -> None:
        stack_template = template(f"network: {{{VPC}, isolated: true}}\nmetrics: {{triton: false}}\n")
        model = only_resource(stack_template, "AWS::SageMaker::Model")["Properties"]
        assert model["EnableNetworkIsolation"] is True
        assert model["VpcConfig"]["Subnets"] == ["subnet-00000001", "subnet-00000002"]


class TestCapture:
    def test_calls_are_captured_into_the_endpoints_own_prefix_alone(self, template: Synth) -> None:
        stack_template = template("capture: {sample: 10%}\n")
        config = only_resource(stack_template, "AWS::SageMaker::EndpointConfig")["Properties"][
            "DataCaptureConfig"
        ]
        assert config == {
            "EnableCapture": True,
            "InitialSamplingPercentage": 10,
            "DestinationS3Uri": f"s3://{BUCKET}/capture/sentences",
            "CaptureOptions": [{"CaptureMode": "Input"}, {"CaptureMode": "Output"}],
            "CaptureContentTypeHeader": {"JsonContentTypes": ["application/json"]},
        }
        granted_statements = statements(stack_template)
        assert granted_statements["KeepCapturedCalls"] == {
            "Sid": "KeepCapturedCalls",
            "Effect": "Allow",
            "Action": "s3:PutObject",
            "Resource": f"arn:aws:s3:::{BUCKET}/capture/sentences/*",
        }
        writers = [
            sid
            for sid, granted_statement in granted_statements.items()
            if "s3:PutObject" in granted_statement["Action"]
        ]
        assert writers == ["KeepCapturedCalls"]

    def test_without_capture_the_role_writes_nothing_to_the_bucket(self, template: Synth) -> None:
        stack_template = template()
        assert "s3:Put" not in str(statements(stack_template))
        assert (
            "DataCaptureConfig"
            not in only_resource(stack_template, "AWS::SageMaker::EndpointConfig")["Properties"]
        )

    def test_one_side_of_a_call_may_be_left_out(self, template: Synth) -> None:
        stack_template = template("capture: {sample: 100%, requests: false}\n")
        config = only_resource(stack_template, "AWS::SageMaker::EndpointConfig")["Properties"][
            "DataCaptureConfig"
        ]
        assert config["CaptureOptions"] == [{"CaptureMode": "Output"}]


class TestKey:
    @pytest.fixture
    def fleet_templates(self, folder: FleetFolder) -> dict[str, Template]:
        """A fleet with a key, whose endpoint has a volume and captures."""
        folder.environment(f"kms_key: {KEY}\n")
        folder.spec("capture: {sample: 10%}\n", base=CPU)
        return templates(folder)

    def test_it_encrypts_bucket_logs_captured_calls_and_volume(
        self, fleet_templates: dict[str, Template]
    ) -> None:
        buckets = [
            resource["Properties"]
            for resource in fleet_templates[FOUNDATION].find_resources("AWS::S3::Bucket").values()
        ]
        by_name = {
            bucket.get("BucketName", "access logs"): bucket["BucketEncryption"][
                "ServerSideEncryptionConfiguration"
            ]
            for bucket in buckets
        }
        with_key = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": KEY}
        assert by_name == {
            BUCKET: [{"BucketKeyEnabled": True, "ServerSideEncryptionByDefault": with_key}],
            "access logs": [{"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}],
        }
        groups = fleet_templates[FOUNDATION].find_resources("AWS::Logs::LogGroup").values()
        assert {group["Properties"]["KmsKeyId"] for group in groups} == {KEY}
        config = only_resource(fleet_templates[STACK], "AWS::SageMaker::EndpointConfig")["Properties"]
        assert (config["KmsKeyId"], config["DataCaptureConfig"]["KmsKeyId"]) == (KEY, KEY)
        assert only_resource(fleet_templates[STACK], "Custom::EndpointLogs")["Properties"]["KmsKey"] == KEY

    def test_it_encrypts_the_volumes_of_a_pool_beside_local_storage(self, folder: FleetFolder) -> None:
        folder.environment(f"kms_key: {KEY}\n")
        pools = "[{InstanceType: ml.c5d.xlarge, Priority: 1}, {InstanceType: ml.c5.xlarge, Priority: 2}]"
        raw = f"cloudformation: {{EndpointConfig: {{ProductionVariants.0.InstancePools: {pools}}}}}\n"
        folder.spec(raw, base=CPU.replace("ml.c5.xlarge", "ml.c5d.xlarge"))
        template = templates(folder)[STACK]
        assert only_resource(template, "AWS::SageMaker::EndpointConfig")["Properties"]["KmsKeyId"] == KEY
        assert {"SeeVolumeKey", "GrantVolumeKey"} <= statements(template).keys()

    def test_the_endpoints_role_uses_that_key_alone(self, fleet_templates: dict[str, Template]) -> None:
        granted_statements = {
            sid: statement
            for sid, statement in statements(fleet_templates[STACK]).items()
            if "kms:" in str(statement["Action"])
        }
        assert {
            sid: (granted_statement["Action"], granted_statement["Resource"])
            for sid, granted_statement in granted_statements.items()
        } == {
            "UseKey": (["kms:Decrypt", "kms:GenerateDataKey"], KEY),
            "SeeVolumeKey": ("kms:DescribeKey", KEY),
            "GrantVolumeKey": ("kms:CreateGrant", KEY),
        }
        assert granted_statements["UseKey"]["Condition"] == THROUGH_S3
        assert granted_statements["GrantVolumeKey"]["Condition"] == {
            "Bool": {"kms:GrantIsForAWSResource": "true"}
        }

    def test_what_saves_scalings_in_the_bucket_uses_it_too(
        self, fleet_templates: dict[str, Template]
    ) -> None:
        granted_use_key = all_statements(fleet_templates[FOUNDATION])["UseKey"]
        assert (granted_use_key["Action"], granted_use_key["Resource"]) == (
            ["kms:Decrypt", "kms:GenerateDataKey"],
            KEY,
        )
        assert granted_use_key["Condition"] == THROUGH_S3

    def test_in_china_s3_is_known_by_both_of_its_names(self, folder: FleetFolder) -> None:
        key = KEY.replace("aws:", "aws-cn:", 1).replace("us-east-1", "cn-north-1")
        folder.write(
            "environments/dev.yaml", f"{ENVIRONMENT.replace('us-east-1', 'cn-north-1')}kms_key: {key}\n"
        )
        folder.spec(base=SPEC.replace("g5.xlarge", "g4dn.xlarge"))
        assert statements(templates(folder)[STACK])["UseKey"]["Condition"]["StringEquals"][
            "kms:ViaService"
        ] == [
            "s3.cn-north-1.amazonaws.com.cn",
            "s3.cn-north-1.amazonaws.com",
        ]

    def test_an_endpoint_with_local_storage_only_decrypts(self, folder: FleetFolder) -> None:
        folder.environment(f"kms_key: {KEY}\n")
        template = templates(folder)[STACK]
        granted_statements = statements(template)
        assert granted_statements["UseKey"]["Action"] == "kms:Decrypt"
        assert not {"SeeVolumeKey", "GrantVolumeKey"} & granted_statements.keys()
        assert "KmsKeyId" not in only_resource(template, "AWS::SageMaker::EndpointConfig")["Properties"]

    def test_without_a_key_nothing_of_kms_is_granted(self, folder: FleetFolder) -> None:
        assert "'kms:" not in "".join(str(template.to_json()) for template in templates(folder).values())


class TestLogs:
    def test_the_endpoint_waits_for_its_log_groups(self, template: Synth) -> None:
        stack_template = template("logs: {retention_days: 90}\ntags: {team: ranking}\n")
        ((name, resource),) = stack_template.find_resources("Custom::EndpointLogs").items()
        assert resource["Properties"] == {
            "ServiceToken": "arn:aws:lambda:us-east-1:111122223333:function:triton-fleet-dev-endpoint-logs",
            "LogGroups": ["/aws/sagemaker/Endpoints/sentences", "/triton-fleet/sentences/metrics"],
            "RetentionInDays": 90,
            "Tags": {
                "team": "ranking",
                "triton-fleet:environment": "dev",
                "triton-fleet:endpoint": "sentences",
            },
        }
        assert name in only_resource(stack_template, "AWS::SageMaker::Endpoint")["DependsOn"]

    def test_the_function_owns_groups_of_endpoints_and_reads_none(self, template: Synth) -> None:
        granted_values = all_statements(template("", FOUNDATION))["OwnLogGroups"]
        groups = "arn:aws:logs:us-east-1:111122223333:log-group:"
        assert granted_values["Resource"] == [
            f"{groups}/aws/sagemaker/Endpoints/*",
            f"{groups}/triton-fleet/*",
        ]
        assert not [text for text in granted_values["Action"] if text.startswith(("logs:Get", "logs:Delete"))]
        assert granted_values["Condition"] == TAG_CONDITION

    def test_functions_reach_no_endpoint_of_another_environment(self, template: Synth) -> None:
        """Without a tag it is nobody's of ours: of a missing endpoint AWS has to say that it is missing."""
        policies = template("", FOUNDATION).find_resources("AWS::IAM::Policy").values()
        conditions = {
            statement["Action"]: statement.get("Condition")
            for policy in policies
            for statement in policy["Properties"]["PolicyDocument"]["Statement"]
            if ":endpoint" in str(statement["Resource"])
        }
        assert conditions == {
            "sagemaker:DescribeEndpoint": TAG_CONDITION,
            "sagemaker:DescribeEndpointConfig": TAG_CONDITION,
            "sagemaker:UpdateEndpointWeightsAndCapacities": TAG_CONDITION,
            "sagemaker:InvokeEndpoint": TAG_CONDITION,
        }

    def test_the_guard_changes_alarms_of_endpoints_alone(self, template: Synth) -> None:
        granted_change_alarms = all_statements(template("", FOUNDATION))["ChangeAlarmsOfScaling"]
        assert (
            granted_change_alarms["Resource"]
            == "arn:aws:cloudwatch:us-east-1:111122223333:alarm:TargetTracking-endpoint/*"
        )

    def test_the_function_has_time_for_all_its_pauses(self, template: Synth) -> None:
        """Of five calls for each of two groups."""
        functions = template("", FOUNDATION).find_resources("AWS::Lambda::Function").values()
        (seconds,) = [
            function["Properties"]["Timeout"]
            for function in functions
            if function["Properties"]["Handler"] == "endpoint_logs.handler.handler"
        ]
        assert seconds >= 1.5 * 5 * 2 * sum(PAUSE_SECONDS)


class TestBoundary:
    @pytest.mark.parametrize("kind", KINDS)
    def test_every_role_of_both_stacks_has_it(self, folder: FleetFolder, kind: str) -> None:
        base, keys = KINDS[kind]
        folder.environment(f"permissions_boundary: {BOUNDARY}\n")
        folder.spec(keys, base=base)
        roles = {
            f"{stack} {name}": role["Properties"].get("PermissionsBoundary")
            for stack, template in templates(folder).items()
            for name, role in template.find_resources("AWS::IAM::Role").items()
        }
        assert len(roles) >= 5
        assert [name for name, boundary in roles.items() if boundary != BOUNDARY] == []

    def test_without_one_no_role_has_any(self, folder: FleetFolder) -> None:
        for template in templates(folder).values():
            assert "PermissionsBoundary" not in str(template.to_json())


class TestTags:
    def test_those_of_the_spec_are_on_everything_in_the_endpoints_stack(self, folder: FleetFolder) -> None:
        folder.environment("tags: {team: search, cost: '1'}\n")
        folder.spec("tags: {team: ranking}\n")
        made_templates = templates(folder)
        for kind in ("AWS::IAM::Role", "AWS::SageMaker::Endpoint", "AWS::SageMaker::Model"):
            tags = {
                tag["Key"]: tag["Value"]
                for tag in only_resource(made_templates[STACK], kind)["Properties"]["Tags"]
            }
            assert tags == {
                "team": "ranking",
                "cost": "1",
                "triton-fleet:environment": "dev",
                "triton-fleet:endpoint": "sentences",
            }

    def test_foundation_has_those_of_the_environment_alone(self, folder: FleetFolder) -> None:
        folder.environment("tags: {team: search}\n")
        folder.spec("tags: {team: ranking}\n")
        foundation = str(templates(folder)[FOUNDATION].to_json())
        assert "search" in foundation
        assert "ranking" not in foundation


@pytest.mark.parametrize("also", [["s3:GetObject"], ["iam:PassRole", "ecr:GetAuthorizationToken"]])
def test_a_statement_that_is_not_meant_is_not_hidden_by_one_on_the_same_resource_that_is(
    also: list[str],
) -> None:
    app = App()
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    stack = Stack(app, "Stack")
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    statement, other_statement = (
        Statement(sid=sid, actions=actions, resources=["*"])
        for sid, actions in (("Meant", ["ecr:GetAuthorizationToken"]), ("Other", also))
    )
    policy_of(stack, "Policy", role_name=role.role_name, statements=[statement, other_statement])
    with pytest.raises(RuntimeError, match="ValidationFailed|Validation failed"):
        app.synth()
