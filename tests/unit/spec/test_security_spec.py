"""Keys about network, captured calls, logs, tags, KMS key and boundary: what is refused, where, and in which words."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import ENVIRONMENT, SPEC, FleetFolder

SUBNETS = "subnets: [subnet-0123456789abcdef0, subnet-0123456789abcdef1]"
GROUPS = "security_groups: [sg-0123456789abcdef0]"
KEY = "arn:aws:kms:us-east-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("network: {subnets: [vpc-1]}", '`network.subnets[0]` is "vpc-1": it must match'),
        (f"network: {{{SUBNETS}}}", "`network`: a VPC is named by both"),
        (f"network: {{{GROUPS}}}", "give `subnets` too"),
        (f"network: {{{SUBNETS.replace('f1', 'f0')}, {GROUPS}}}", "a subnet is listed twice"),
        (
            f"network: {{{GROUPS}, subnets: {[f'subnet-{n:08}' for n in range(17)]}}}",
            "it must have at most 16 items, and has 17",
        ),
        (
            f"network: {{{SUBNETS}, security_groups: {[f'sg-{n:08}' for n in range(6)]}}}",
            "it must have at most 5 items, and has 6",
        ),
        ("capture: {sample: 0%}", "write a number above 0 and up to 100"),
        ("capture: {sample: 2.5%}", "SageMaker captures whole percents"),
        ("capture: {}", "the key `capture.sample` is missing"),
        ("capture: {sample: 1%, requests: false, responses: false}", "`capture`: this captures nothing"),
        (
            "logs: {retention_days: 31}",
            "`logs.retention_days` is 31: CloudWatch accepts only 1, 3, 5, 7, 14, 30",
        ),
        ("logs: {retention_days: 0}", "`logs.retention_days` is 0"),
        ("tags: {AWS:x: y}", "tags that begin with `aws:` or `triton-fleet:` are reserved"),
        ("tags: {triton-fleet:endpoint: y}", "are reserved"),
        ('tags: {team: "a*"}', "'*' is not allowed in a tag"),
        ("tags: {team: 1}", "it must be text"),
    ],
)
def test_a_mistake_in_a_spec_is_told_at_its_line(folder: FleetFolder, keys: str, message: str) -> None:
    folder.spec(f"{keys}\n")
    (finding,) = folder.finding_lines()
    assert finding.startswith("sentences.yaml:6 FL11")
    assert message in finding


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (f"kms_key: {KEY.replace('111122223333', '444455556666')}", "it is in account 444455556666, and the"),
        (
            f"kms_key: {KEY.replace('us-east-1', 'eu-west-1')}",
            "it is in region eu-west-1, and the environment",
        ),
        (
            f"kms_key: {KEY.replace('aws:', 'aws-cn:', 1)}",
            "it is in the partition aws-cn, and us-east-1 is of aws",
        ),
        ("kms_key: alias/models", '"alias/models": an alias is not accepted | write the key\'s own ARN'),
        ("kms_key: alias/models", "aws kms describe-key --key-id alias/models --query KeyMetadata.Arn"),
        (f"kms_key: {KEY.replace('key/', 'alias/')}", "an alias is not accepted"),
        ("kms_key: 1234abcd", "it is not the ARN of a KMS key"),
        ("permissions_boundary: arn:aws:iam::444455556666:policy/a", "it is in account 444455556666"),
        ("allowed_roles: [arn:aws:iam::444455556666:role/a]", "it is in account 444455556666"),
        ("allowed_roles: ['arn:aws:iam::111122223333:role/*']", "it is not the ARN of an IAM role"),
        ("allowed_registries: ['*']", "it is neither an AWS account nor the host of a registry"),
        ("allowed_registries: [library]", "it is neither an AWS account nor the host of a registry"),
        (
            "permissions_boundary: boundary",
            "it is not the ARN of an IAM policy | write `arn:aws:iam::ACCOUNT:policy/NAME`",
        ),
    ],
)
def test_a_key_a_role_or_a_boundary_of_somewhere_else_is_refused(
    folder: FleetFolder, key: str, message: str
) -> None:
    folder.environment(f"{key}\n")
    (finding,) = folder.finding_lines()
    assert finding.startswith("dev.yaml:4 FL112")
    assert message in finding


def test_a_boundary_may_be_aws_own(folder: FleetFolder) -> None:
    folder.environment("permissions_boundary: arn:aws:iam::aws:policy/PowerUserAccess\n")
    boundary = folder.resolve().deployment.permissions_boundary
    assert boundary == "arn:aws:iam::aws:policy/PowerUserAccess"


def test_an_environment_puts_its_whole_fleet_into_a_vpc_and_sets_the_retention(folder: FleetFolder) -> None:
    folder.environment(f"defaults: {{network: {{{SUBNETS}, {GROUPS}}}, logs: {{retention_days: 90}}}}\n")
    endpoint = folder.resolve()
    assert endpoint.spec.network.subnets == ("subnet-0123456789abcdef0", "subnet-0123456789abcdef1")
    assert endpoint.spec.logs.retention_days == 90


def test_tags_of_a_spec_win_over_those_of_the_environment(folder: FleetFolder) -> None:
    folder.environment("tags: {team: search, cost: '1'}\n")
    folder.spec("tags: {team: ranking}\n")
    assert folder.resolve().tags == {
        "team": "ranking",
        "cost": "1",
        "triton-fleet:environment": "dev",
        "triton-fleet:endpoint": "sentences",
    }


def test_tags_that_are_one_to_iam_are_told_across_the_two_files(folder: FleetFolder) -> None:
    folder.environment("tags: {Team: search}\n")
    folder.spec("tags: {team: ranking}\n")
    (finding,) = folder.finding_lines()
    assert "sentences.yaml:6 FL345 the tags 'Team' and 'team' are the same to IAM" in finding


@pytest.mark.parametrize(
    ("instance", "key"), [("ml.g5.xlarge", None), ("ml.c5.xlarge", KEY), ("ml.c5d.xlarge", None)]
)
def test_the_key_is_for_volumes_and_not_for_local_storage(
    folder: FleetFolder, instance: str, key: str | None
) -> None:
    folder.environment(f"kms_key: {KEY}\n")
    folder.spec(base=SPEC.replace("ml.g5.xlarge", instance))
    assert folder.resolve().volume_key == key


@pytest.mark.parametrize(
    "raw",
    [
        "ProductionVariants.0.InstancePools: [{InstanceType: ml.c5d.xlarge, Priority: 1},"
        " {InstanceType: ml.c5.xlarge, Priority: 2}]",
        "ShadowProductionVariants: [{VariantName: b, InstanceType: ml.c5.xlarge,"
        " ModelName: {Fn::GetAtt: [Model0301700E, ModelName]}, InitialInstanceCount: 1}]",
    ],
)
def test_the_key_is_for_the_volumes_of_pools_and_shadow_variants(folder: FleetFolder, raw: str) -> None:
    folder.environment(f"kms_key: {KEY}\n")
    folder.spec(
        f"cloudformation: {{EndpointConfig: {{{raw}}}}}\n", base=SPEC.replace("ml.g5.xlarge", "ml.c5d.xlarge")
    )
    assert folder.resolve().volume_key == KEY


def test_without_a_key_everything_is_encrypted_with_aws_own(folder: FleetFolder) -> None:
    folder.spec(base=SPEC.replace("ml.g5.xlarge", "ml.c5.xlarge"))
    endpoint = folder.resolve()
    assert (endpoint.deployment.kms_key, endpoint.volume_key) == (None, None)


def test_the_log_groups_are_the_containers_and_that_of_tritons_metrics(folder: FleetFolder) -> None:
    own = "/aws/sagemaker/Endpoints/sentences"
    assert folder.resolve().log_groups == (own, "/triton-fleet/sentences/metrics")
    folder.spec("metrics: {triton: false}\n")
    assert folder.resolve().log_groups == (own,)


def test_a_key_of_another_partition_is_taken_there(folder: FleetFolder) -> None:
    china = ENVIRONMENT.replace("us-east-1", "cn-north-1")
    key = KEY.replace("aws:", "aws-cn:", 1).replace("us-east-1", "cn-north-1")
    folder.write("environments/dev.yaml", f"{china}kms_key: {key}\n")
    assert folder.resolve().deployment.kms_key == key
