"""AWS::CodeBuild::Project, over moto's backend."""

from __future__ import annotations

from typing import Any

from moto.codebuild.models import CodeBuildBackend, codebuild_backends

from fleet_emulator.codebuild.limits import require_project_limit
from fleet_emulator.types.resource import Declaration, Resource

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
