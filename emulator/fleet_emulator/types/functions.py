"""AWS::Lambda::Function and AWS::CodeBuild::Project, of which moto's updates keep too much or too little."""

from __future__ import annotations

from typing import Any

from moto.awslambda.exceptions import FunctionAlreadyExists
from moto.awslambda.models import LambdaBackend, lambda_backends
from moto.codebuild.models import CodeBuildBackend, codebuild_backends

from fleet_emulator.codebuild.build import require_project_limit
from fleet_emulator.functions.backend import EmbeddedFunction
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


# CloudFormation and the API differ in more than the first letter.
_API_NAMES = {"BuildSpec": "buildspec"}


class Project:
    """`Ref` is the project's name."""

    def create(self, declared: Declaration) -> Resource:
        """Create the project under its own name or a generated one."""
        return self._put(declared.properties.get("Name", declared.generated_name()), declared)

    def replaces(self, before: Declaration, declared: Declaration) -> bool:
        """When it has another name."""
        return "Name" in declared.changed(before)

    def update(self, resource: Resource, before: Declaration, declared: Declaration) -> Resource:
        """Create it again over the old one, and keep the list of its builds."""
        name = resource.physical_resource_id
        builds = self._backend(declared).build_history[name]
        updated = self._put(name, declared)
        self._backend(declared).build_history[name] = builds
        return updated

    def delete(self, resource: Resource, declared: Declaration) -> None:
        """Delete the project."""
        self._backend(declared).delete_project(resource.physical_resource_id)

    def _put(self, name: str, declared: Declaration) -> Resource:
        properties: dict[str, Any] = _as_api(declared.properties)
        limit = properties.get("concurrentBuildLimit")
        require_project_limit(limit)
        project = self._backend(declared).create_project(
            project_name=name,
            description=properties.get("description"),
            project_source=properties["source"],
            artifacts=properties["artifacts"],
            environment=properties["environment"],
            service_role=properties["serviceRole"],
            tags=properties.get("tags", []),
            cache=properties.get("cache"),
            timeout=properties.get("timeoutInMinutes", 60),
            queued_timeout=properties.get("queuedTimeoutInMinutes", 480),
            source_version=properties.get("sourceVersion"),
            logs_config=properties.get("logsConfig"),
            vpc_config=properties.get("vpcConfig"),
        )
        if limit is not None:
            project["concurrentBuildLimit"] = limit
        return Resource(name, {"Arn": str(project["arn"])})

    @staticmethod
    def _backend(declared: Declaration) -> CodeBuildBackend:
        return codebuild_backends[declared.account_id][declared.region]


def _as_api(value: Any) -> Any:
    if isinstance(value, list):
        return [_as_api(each) for each in value]
    if isinstance(value, dict):
        return {_API_NAMES.get(key, key[:1].lower() + key[1:]): _as_api(each) for key, each in value.items()}
    return value
