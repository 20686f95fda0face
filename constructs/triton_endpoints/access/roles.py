"""The roles that a repository's jobs take on by OpenID Connect, without keys, and their wildcards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aws_cdk import DefaultStackSynthesizer
from aws_cdk import aws_iam as iam
from constructs import Construct

from triton_endpoints.access.permissions import deploy_statements, drift_statements, promotion_statements
from triton_endpoints.policy import Statement, document, policy_of
from triton_endpoints.wildcards import Wildcard
from triton_fleet.catalog.cloudformation import detected_types
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.trusts import AccessRole, Trust, session_seconds

_QUALIFIER = "@aws-cdk/core:bootstrapQualifier"
"""The context key of another bootstrap. Source: CDK developer guide, bootstrapping-customizing.html."""


class AccessRoles(Construct):
    """A role that deploys an environment, one that looks for drift, and one that others promote with.

    Each is trusted for whole subjects of tokens, without a wildcard; no subject is that of a pull request.
    The role of promotion exists only if an environment is named that is promoted to.
    """

    def __init__(self, scope: Construct, id: str, *, deployment: Deployment) -> None:
        super().__init__(scope, id)
        self._deployment = deployment
        self._providers = {
            trust: trust.provider or self._declare_provider(trust) for trust in deployment.access
        }
        qualifier = self.node.try_get_context(_QUALIFIER)
        qualifier = qualifier or DefaultStackSynthesizer.DEFAULT_QUALIFIER
        self.deploy = self._declare_role("deploy", "Deploys", deploy_statements(deployment, qualifier))
        self.drift = self._declare_role("drift", "Detects drift in", drift_statements(deployment))
        self.promotion = (
            self._declare_role("promotion", "Reads for a promotion from", promotion_statements(deployment))
            if any(trust.promotion for trust in deployment.access)
            else None
        )

    def _declare_provider(self, trust: Trust) -> str:
        """AWS itself verifies the certificates of both issuers, so there is no thumbprint."""
        return iam.CfnOIDCProvider(
            self, trust.host, url=f"https://{trust.issuer}", client_id_list=[trust.audience]
        ).attr_arn

    def _declare_role(self, name: AccessRole, does: str, statements: Sequence[Statement]) -> iam.CfnRole:
        trust_statements = [
            self._trust(trust, subjects)
            for trust in self._deployment.access
            if (subjects := trust.subjects(name))
        ]
        role = iam.CfnRole(
            self,
            name.capitalize(),
            role_name=self._deployment.access_role(name),
            assume_role_policy_document=document(trust_statements),
            description=f"{does} {self._deployment.environment} from its repository",
            max_session_duration=session_seconds(name),
        )
        policy_of(
            self,
            f"{name.capitalize()}Policy",
            role_name=role.ref,
            statements=statements,
            further=ACCESS_WILDCARDS,
        )
        return role

    def _trust(self, trust: Trust, subjects: tuple[str, ...]) -> dict[str, Any]:
        conditions = {
            f"{trust.issuer}:aud": trust.audience,
            f"{trust.issuer}:sub": subjects[0] if len(subjects) == 1 else list(subjects),
        }
        return {
            "Action": "sts:AssumeRoleWithWebIdentity",
            "Effect": "Allow",
            "Principal": {"Federated": self._providers[trust]},
            "Condition": {"StringEquals": conditions},
        }


IN_STACKS = ("AWS::Events::Rule", "AWS::Lambda::Function", "AWS::S3::Bucket", "AWS::SNS::Topic")
"""Types whose resources have the name of their stack in their ARN."""

ACCESS_WILDCARDS = (
    Wildcard(
        r"arn:[^:]+:cloudformation:[^:]+:\d+:stack/(triton-fleet-[a-z0-9]+(-|/)|CDKToolkit/)\*",
        frozenset(
            {
                "cloudformation:ContinueUpdateRollback",
                "cloudformation:DescribeStackEvents",
                "cloudformation:DescribeStackResources",
                "cloudformation:DescribeStacks",
                "cloudformation:GetTemplate",
                "cloudformation:ListStackResources",
                "cloudformation:UpdateTerminationProtection",
            }
        ),
        "the stacks of the environment, whose ARNs end with what CloudFormation makes; no other environment's"
        " begin so, as no name of one has a hyphen; of the CDK's own only its state is read",
    ),
    Wildcard(
        r"arn:[^:]+:sagemaker:[^:]+:\d+:model/\*",
        frozenset({"sagemaker:DescribeModel"}),
        "CloudFormation names models; a condition spares those of other environments",
    ),
    Wildcard(
        r"arn:[^:]+:s3:::[^/]+/owners/\*",
        frozenset({"s3:PutObject"}),
        "records of which endpoint may have which content, for the role that deploys; no other role writes"
        " there",
    ),
    Wildcard(
        r"arn:[^:]+:s3:::[^/]+/(archives|endpoints|engines|images|releases)/\*",
        frozenset({"s3:AbortMultipartUpload", "s3:GetObject", "s3:GetObjectVersion", "s3:PutObject"}),
        "what is published, for the roles of the environment's repository: objects named by their content and"
        " by endpoints; the bucket keeps versions, and captured calls are not among them",
    ),
    Wildcard(
        r"arn:[^:]+:s3:::[^/]+/uploads/\*",
        frozenset({"s3:GetObject"}),
        "what people upload for the environment's endpoints: a job that publishes reads it, by the specs",
    ),
    Wildcard(
        r"arn:[^:]+:s3:::[^/]+/(archives|engines|images)/\*",
        frozenset({"s3:DeleteObject"}),
        "leases and failures of builds, which are named by what is built, and uploads that S3 stored wrongly;"
        " the bucket keeps versions",
    ),
    Wildcard(
        r"arn:[^:]+:logs:[^:]+:\d+:log-group:/triton-fleet/[a-z0-9]+/(engines|images):log-stream:\*",
        frozenset({"logs:GetLogEvents"}),
        "the logs of the environment's own builds, a stream for each",
    ),
    Wildcard(
        r"arn:[^:]+:iam::\d+:role/triton-fleet-[a-z0-9]+-?\*",
        frozenset(
            {"iam:GetRole", "iam:GetRolePolicy", "iam:ListAttachedRolePolicies", "iam:ListRolePolicies"}
        ),
        "the roles of the environment's stacks, which CloudFormation names after them; they are only read",
    ),
    Wildcard(
        r"\*",
        frozenset({"cloudformation:DescribeStackDriftDetectionStatus", "cloudformation:DescribeStacks"}),
        "what lists stacks and asks about a detection names none; it reads no template",
    ),
    Wildcard(
        r"arn:[^:]+:(cloudformation|events|lambda|s3|sns):[^:]*:\d*:"
        r"(stack/|rule/|function:)?triton-fleet-[a-z0-9]*[-/]?\*",
        frozenset(
            {
                "cloudformation:DescribeStackResourceDrifts",
                "cloudformation:DetectStackDrift",
                "cloudformation:DetectStackResourceDrift",
                "cloudformation:GetTemplate",
                "cloudformation:ListStackResources",
                *(action for type in IN_STACKS for action in detected_types()[type]),
            }
        ),
        "the environment's own stacks and what they hold, which CloudFormation names after them; settings are"
        " read, and names of objects, but no object",
    ),
    Wildcard(
        r"arn:[^:]+:logs:[^:]+:\d+:log-group:\*",
        frozenset(detected_types()["AWS::Logs::LogGroup"]),
        "log groups are named after functions and endpoints; their settings are read, and no line",
    ),
    Wildcard(
        r"arn:[^:]+:cloudwatch::\d+:dashboard/\*",
        frozenset({"cloudwatch:GetDashboard"}),
        "dashboards have names that CloudFormation makes of logical ids alone; they are only read",
    ),
    Wildcard(
        r"arn:[^:]+:ssm:[^:]+:\d+:parameter/triton-fleet/[a-z0-9]+/alarm-topic/\*",
        frozenset({"ssm:GetParameter"}),
        "the topics of the environment's alarms, one for each severity and owner",
    ),
)
