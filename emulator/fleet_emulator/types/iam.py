"""AWS::IAM::Role: moto's updates nothing but the description, and spoils inline policies.

Managed policies are not attached: moto does not know AWS's own. AWS::IAM::OIDCProvider: its stacks have none.
"""

from __future__ import annotations

import json

from moto.cloudformation.exceptions import ValidationError
from moto.iam.models import IAMBackend, InlinePolicy, iam_backends
from moto.iam.models import Role as MotoRole
from moto.utilities.utils import get_partition

from fleet_emulator.types.moto_types import MotoType
from fleet_emulator.types.resource import Declaration, Resource, ResourceType

MAX_INLINE_POLICY_CHARACTERS = 10_240
"""The sum of a role's inline policies, without white space; source: IAM user guide, reference_iam-quotas."""


class Role(MotoType):
    """`Ref` is the role's name."""

    replacing_properties = frozenset({"RoleName", "Path"})

    def __init__(self) -> None:
        super().__init__(MotoRole)  # type: ignore[type-abstract]

    def create(self, declaration: Declaration) -> Resource:
        """Create the role with its inline policies."""
        resource = super().create(declaration)
        for name, document in _inline_policies(declaration).items():
            _backend(declaration).put_role_policy(resource.physical_resource_id, name, document)
        return resource

    def update(self, resource: Resource, before: Declaration, declaration: Declaration) -> Resource:
        """Replace the trust, the boundary, the inline policies and the description."""
        backend, name, properties = (
            _backend(declaration),
            resource.physical_resource_id,
            declaration.properties,
        )
        backend.update_assume_role_policy(name, json.dumps(properties["AssumeRolePolicyDocument"]))
        backend.put_role_permissions_boundary(name, properties.get("PermissionsBoundary", ""))
        policies = _inline_policies(declaration)
        for policy in _inline_policies(before).keys() - policies.keys():
            backend.delete_role_policy(name, policy)
        for policy, document in policies.items():
            backend.put_role_policy(name, policy, document)
        backend.update_role(
            name, properties.get("Description", ""), properties.get("MaxSessionDuration", 3600)
        )
        return resource


class Policy(MotoType):
    """AWS::IAM::Policy: a role's inline policies have a limit in sum, which moto does not know."""

    def __init__(self) -> None:
        super().__init__(InlinePolicy)  # type: ignore[type-abstract]

    def create(self, declaration: Declaration) -> Resource:
        """Put the policy."""
        _require_room(declaration)
        return super().create(declaration)

    def update(self, resource: Resource, before: Declaration, declaration: Declaration) -> Resource:
        """Replace the policy."""
        _require_room(declaration)
        return super().update(resource, before, declaration)


class OidcProvider(ResourceType):
    """AWS::IAM::OIDCProvider: `Ref` is its ARN; an account has one for each issuer."""

    replacing_properties = frozenset({"Url"})

    def create(self, declaration: Declaration) -> Resource:
        """Create the provider; a second one of an issuer is refused."""
        properties = declaration.properties
        provider = _backend(declaration).create_open_id_connect_provider(
            url=properties["Url"],
            thumbprint_list=list(properties.get("ThumbprintList", [])),
            client_id_list=list(properties.get("ClientIdList", [])),
            tags=list(properties.get("Tags", [])),
        )
        return Resource(provider.arn, {"Arn": provider.arn})

    def update(self, resource: Resource, before: Declaration, declaration: Declaration) -> Resource:
        """Replace the audiences and the thumbprints."""
        provider = _backend(declaration).get_open_id_connect_provider(resource.physical_resource_id)
        provider.client_id_list = list(declaration.properties.get("ClientIdList", []))
        provider.thumbprint_list = list(declaration.properties.get("ThumbprintList", []))
        return resource

    def delete(self, resource: Resource, declaration: Declaration) -> None:
        """Delete the provider."""
        _backend(declaration).delete_open_id_connect_provider(resource.physical_resource_id)


def _backend(declaration: Declaration) -> IAMBackend:
    return iam_backends[declaration.account_id][get_partition(declaration.region)]


def _require_room(declaration: Declaration) -> None:
    """Refuse a policy with which a role would have too many characters of them.

    Raises:
        ValidationError: in IAM's words.
    """
    max_characters, properties = MAX_INLINE_POLICY_CHARACTERS, declaration.properties
    for role in properties.get("Roles", []):
        texts = _backend(declaration).get_role(role).policies
        documents = {name: json.loads(text) for name, text in texts.items()}
        documents[properties["PolicyName"]] = properties["PolicyDocument"]
        if sum(map(_characters, documents.values())) > max_characters:
            raise ValidationError(
                message=f"Maximum policy size of {max_characters} bytes exceeded for role {role}"
            )


def _characters(document: object) -> int:
    return len(json.dumps(document, separators=(",", ":"), ensure_ascii=False))


def _inline_policies(declaration: Declaration) -> dict[str, str]:
    policies = declaration.properties.get("Policies", [])
    return {policy["PolicyName"]: json.dumps(policy["PolicyDocument"]) for policy in policies}
