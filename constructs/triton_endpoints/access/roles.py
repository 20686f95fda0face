"""The roles that a repository's jobs take on by OpenID Connect, without keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aws_cdk import DefaultStackSynthesizer
from aws_cdk import aws_iam as iam
from constructs import Construct

from triton_endpoints.access.permissions import deploy_statements, drift_statements, promotion_statements
from triton_endpoints.access.wildcards import ACCESS_WILDCARDS
from triton_endpoints.policy import Statement, document, policy_of
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
        trusted = [
            self._trust(trust, subjects)
            for trust in self._deployment.access
            if (subjects := trust.subjects(name))
        ]
        role = iam.CfnRole(
            self,
            name.capitalize(),
            role_name=self._deployment.access_role(name),
            assume_role_policy_document=document(trusted),
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
