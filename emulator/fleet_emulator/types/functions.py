"""AWS::Lambda::Function: moto's updates keep what a template has dropped, and its functions need Docker."""

from __future__ import annotations

from moto.awslambda.exceptions import FunctionAlreadyExists
from moto.awslambda.models import LambdaBackend, lambda_backends

from fleet_emulator.functions.function import EmbeddedFunction
from fleet_emulator.types.resource import Declaration, Resource

_LONGEST_NAME, _LONGEST_STACK = 64, 24
"""Characters of a function's name, and of the stack's name in a generated one; source: names that
CloudFormation makes."""


class Function:
    """`Ref` is the function's name."""

    def create(self, declared: Declaration) -> Resource:
        """Create the function under its own name or a generated one."""
        stack = declared.stack_name[:_LONGEST_STACK]
        generated = declared.generated_name(longest=_LONGEST_NAME - len(stack) - 1)
        name = declared.properties.get("FunctionName", f"{stack}-{generated}")
        if name in [function.function_name for function in _backend(declared).list_functions()]:
            raise FunctionAlreadyExists(name)
        return self._put(_make_function(name, declared), declared)

    def replaces(self, before: Declaration, declared: Declaration) -> bool:
        """When it has another name, or is packaged in another way."""
        return not declared.changed(before).isdisjoint({"FunctionName", "PackageType"})

    def update(self, resource: Resource, before: Declaration, declared: Declaration) -> Resource:
        """Put the new function in the old one's place; who may call it stays."""
        former = _backend(declared).get_function(resource.physical_resource_id)
        function = _make_function(resource.physical_resource_id, declared)
        function.policy = former.policy
        return self._put(function, declared)

    def delete(self, resource: Resource, declared: Declaration) -> None:
        """Delete the function."""
        _backend(declared).delete_function(resource.physical_resource_id)

    @staticmethod
    def _put(function: EmbeddedFunction, declared: Declaration) -> Resource:
        _backend(declared)._lambdas.put_function(function)
        return Resource(function.function_name, {"Arn": function.function_arn})


def _backend(declared: Declaration) -> LambdaBackend:
    return lambda_backends[declared.account_id][declared.region]


def _make_function(name: str, declared: Declaration) -> EmbeddedFunction:
    account = declared.account_id
    return EmbeddedFunction(  # type: ignore[abstract]
        name, declared.properties, account_id=account, region=declared.region
    )
