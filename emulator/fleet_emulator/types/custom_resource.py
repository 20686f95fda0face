"""Custom resources: `Custom::*` and AWS::CloudFormation::CustomResource, behind the CDK's providers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from moto.awslambda.models import lambda_backends
from moto.cloudformation.exceptions import ValidationError

from fleet_emulator import process_state
from fleet_emulator.functions.backend import EmbeddedFunction
from fleet_emulator.functions.call import NotHostedError
from fleet_emulator.functions.provider import Provider, RequestFailedError
from fleet_emulator.types.resource import (
    Declaration,
    Resource,
    ResourceType,
    SkippedResource,
    UnfinishedError,
    UnhostedType,
)


class CustomResourceState(Resource):
    """A custom resource that a handler answered for; its attributes are the answer's `Data`."""

    may_move = True

    def __init__(self, response: Mapping[str, Any]) -> None:
        data = response.get("Data") or {}
        super().__init__(response["PhysicalResourceId"], as_strings(data))

    def get_cfn_attribute(self, name: str) -> Any:
        """A value of the answer's `Data`."""
        if name not in self._attributes:
            raise ValidationError(
                message=f"CustomResource attribute error: Vendor response doesn't contain {name} key in "
                f"object {self.physical_resource_id}"
            )
        return self._attributes[name]


class CustomResource(ResourceType):
    """`Ref` is the physical id that the handler chose; by another one the handler itself replaces it."""

    def create(self, declaration: Declaration) -> Resource:
        """Have the handler create it; skip it where no handler runs here."""
        try:
            provider = _provider(declaration)
            if provider is not None:
                return self._ask(provider, "Create", declaration)
        except NotHostedError as error:
            return _skip(declaration, error.message)
        return UnhostedType().create(declaration)

    def update(self, resource: Resource, before: Declaration, declaration: Declaration) -> Resource:
        """Have the handler update it; one that failed is brought back by a rollback, too."""
        if isinstance(resource, SkippedResource):
            return resource
        if "ServiceToken" in declaration.changed_properties(before):
            raise ValidationError(message="Modifying service token is not allowed.")
        old = {"OldResourceProperties": as_strings(before.properties)}
        return self._ask(_required_provider(declaration), "Update", declaration, resource, **old)

    def delete(self, resource: Resource, declaration: Declaration) -> None:
        """Have the handler delete it."""
        if not isinstance(resource, SkippedResource):
            self._ask(_required_provider(declaration), "Delete", declaration, resource)

    @staticmethod
    def _ask(
        provider: Provider, kind: str, declaration: Declaration, resource: Resource | None = None, **old: Any
    ) -> CustomResourceState:
        identity = {} if resource is None else {"PhysicalResourceId": resource.physical_resource_id}
        request = {
            "RequestType": kind,
            "RequestId": str(uuid4()),
            "StackId": declaration.stack_id,
            "ServiceToken": declaration.properties["ServiceToken"],
            "ResourceType": declaration.type,
            "LogicalResourceId": declaration.logical_id,
            "ResourceProperties": as_strings(declaration.properties),
            **identity,
            **old,
        }
        try:
            return CustomResourceState(provider.handle(request))
        except RequestFailedError as error:
            reason = (
                f"Received response status [FAILED] from custom resource. Message returned: {error} "
                f"(RequestId: {request['RequestId']})"
            )
            if not error.physical_id:
                raise ValidationError(message=reason) from error
            unfinished_resource = CustomResourceState({"PhysicalResourceId": error.physical_id})
            raise UnfinishedError(reason, unfinished_resource) from error


def as_strings(value: Any) -> Any:
    """A property as CloudFormation sends it: numbers and booleans are strings."""
    if isinstance(value, Mapping):
        return {key: as_strings(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_strings(item) for item in value]
    return str(value).lower() if isinstance(value, bool) else str(value)


def _provider(declaration: Declaration) -> Provider | None:
    """The provider that the service token names; None where it names none in this account and region.

    Raises:
        NotHostedError: the function answers CloudFormation by itself.
        UnknownFunctionException: there is no such function.
    """
    token = str(declaration.properties.get("ServiceToken", ""))
    if token.split(":")[2:6] != ["lambda", declaration.region, declaration.account_id, "function"]:
        return None
    function = lambda_backends[declaration.account_id][declaration.region].get_function(token)
    provider = Provider.behind(function) if isinstance(function, EmbeddedFunction) else None
    if provider is None:
        raise NotHostedError(
            f"the function {function.function_name} is not behind the CDK's custom_resources.Provider"
        )
    return provider


def _required_provider(declaration: Declaration) -> Provider:
    provider = _provider(declaration)
    assert provider is not None  # noqa: S101 (a resource that has one was made by it, and keeps its token)
    return provider


def _skip(declaration: Declaration, reason: str) -> SkippedResource:
    process_state.current().skip(f"{declaration.type} {declaration.logical_id} ({declaration.stack_name})")
    return SkippedResource(
        f"skipped-{declaration.generated_name()}", note=f"Skipped by the embedded AWS: {reason}"
    )
