"""AWS::Lambda::Function and AWS::CodeBuild::Project, of which moto's updates keep too much or too little."""

from __future__ import annotations

from typing import Any

from moto.awslambda.exceptions import FunctionAlreadyExists
from moto.awslambda.models import LambdaBackend, lambda_backends
from moto.codebuild.models import CodeBuildBackend, codebuild_backends

from fleet_emulator.codebuild.build import require_project_limit
from fleet_emulator.functions.backend import EmbeddedFunction
from fleet_emulator.types.resource import Declaration, Resource, ResourceType

_LONGEST_NAME, _LONGEST_STACK = 64, 24
"""Characters of a function's name, and of the stack's name in a generated one; source: names that
CloudFormation makes."""


class Function(ResourceType):
    """`Ref` is the function's name."""

    replacing_properties = frozenset({"FunctionName", "PackageType"})

    def create(self, declaration: Declaration) -> Resource:
        """Create the function under its own name or a generated one."""
        stack = declaration.stack_name[:_LONGEST_STACK]
        generated_name = declaration.generated_name(longest=_LONGEST_NAME - len(stack) - 1)
        name = declaration.properties.get("FunctionName", f"{stack}-{generated_name}")
        if name in [function.function_name for function in _backend(declaration).list_functions()]:
            raise FunctionAlreadyExists(name)
        return self._put(_make_function(name, declaration), declaration)

    def update(self, resource: Resource, before: Declaration, declaration: Declaration) -> Resource:
        """Put the new function in the old one's place; who may call it stays."""
        former = _backend(declaration).get_function(resource.physical_resource_id)
        function = _make_function(resource.physical_resource_id, declaration)
        function.policy = former.policy
        return self._put(function, declaration)

    def delete(self, resource: Resource, declaration: Declaration) -> None:
        """Delete the function."""
        _backend(declaration).delete_function(resource.physical_resource_id)

    @staticmethod
    def _put(function: EmbeddedFunction, declaration: Declaration) -> Resource:
        _backend(declaration)._lambdas.put_function(function)
        return Resource(function.function_name, {"Arn": function.function_arn})


def _backend(declaration: Declaration) -> LambdaBackend:
    return lambda_backends[declaration.account_id][declaration.region]


def _make_function(name: str, declaration: Declaration) -> EmbeddedFunction:
    account = declaration.account_id
    return EmbeddedFunction(  # type: ignore[abstract]
        name, declaration.properties, account_id=account, region=declaration.region
    )


# CloudFormation and the API differ in more than the first letter.
_API_NAMES = {"BuildSpec": "buildspec"}


class Project(ResourceType):
    """`Ref` is the project's name."""

    replacing_properties = frozenset({"Name"})

    def create(self, declaration: Declaration) -> Resource:
        """Create the project under its own name or a generated one."""
        return self._put(declaration.properties.get("Name", declaration.generated_name()), declaration)

    def update(self, resource: Resource, before: Declaration, declaration: Declaration) -> Resource:
        """Create it again over the old one, and keep the list of its builds."""
        name = resource.physical_resource_id
        builds = self._backend(declaration).build_history[name]
        project = self._put(name, declaration)
        self._backend(declaration).build_history[name] = builds
        return project

    def delete(self, resource: Resource, declaration: Declaration) -> None:
        """Delete the project."""
        self._backend(declaration).delete_project(resource.physical_resource_id)

    def _put(self, name: str, declaration: Declaration) -> Resource:
        properties: dict[str, Any] = _as_api(declaration.properties)
        limit = properties.get("concurrentBuildLimit")
        require_project_limit(limit)
        project = self._backend(declaration).create_project(
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
    def _backend(declaration: Declaration) -> CodeBuildBackend:
        return codebuild_backends[declaration.account_id][declaration.region]


def _as_api(value: Any) -> Any:
    if isinstance(value, list):
        return [_as_api(item) for item in value]
    if isinstance(value, dict):
        return {_API_NAMES.get(key, key[:1].lower() + key[1:]): _as_api(item) for key, item in value.items()}
    return value
