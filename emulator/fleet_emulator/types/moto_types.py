"""The resource types that moto hosts itself, behind our interface, and resources that exist by name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from moto.cloudformation.parsing import generate_resource_name, resource_name_property_from_type
from moto.core.common_models import CloudFormationModel
from moto.ecr.models import ecr_backends
from moto.logs.models import logs_backends
from moto.s3.models import s3_backends
from moto.ssm.models import Parameter as MotoParameter
from moto.utilities.utils import get_partition

from fleet_emulator.types.resource import Declaration, Resource, ResourceType

MAX_NAME = 80
"""Characters of a state machine's name, the only one that moto refuses; source: CreateStateMachine, name."""


class MotoResource(Resource):
    """An object of moto, with the name under which it was made."""

    def __init__(self, model: CloudFormationModel, *, name: str) -> None:
        super().__init__(str(getattr(model, "physical_resource_id", name)))
        self.model = model
        self.name = name

    def get_cfn_attribute(self, name: str) -> Any:
        """The answer of moto for `Fn::GetAtt`."""
        return self.model.get_cfn_attribute(name)  # type: ignore[attr-defined]


def _generated_name(declaration: Declaration) -> str:
    """As CloudFormation makes one, cut before its random end to what the longest of moto's types takes."""
    name = generate_resource_name(declaration.type, declaration.stack_name, declaration.logical_id)
    before, _, end = name.rpartition("-")
    return f"{before[: MAX_NAME - len(end) - 1]}-{end}"


class MotoType(ResourceType):
    """A class of moto that CloudFormation can make, and that replaces its resources itself."""

    def __init__(self, model: type[CloudFormationModel]) -> None:
        self._model = model

    def create(self, declaration: Declaration) -> Resource:
        """Make it under its own name or a generated one."""
        return self._create(self._own_name(declaration) or _generated_name(declaration), declaration)

    def update(self, resource: Resource, before: Declaration, declaration: Declaration) -> Resource:
        """Update as the class can; where it cannot, create again, under the same name where there is one."""
        assert isinstance(resource, MotoResource)  # noqa: S101 (a type only meets its own resources)
        name = self._own_name(declaration) or resource.name
        if hasattr(self._model.update_from_cloudformation_json, "__isabstractmethod__"):
            return self._recreate(resource, name, before, declaration)
        model = self._model.update_from_cloudformation_json(
            original_resource=resource.model,
            new_resource_name=name,
            cloudformation_json=self._json(name, declaration),
            account_id=declaration.account_id,
            region_name=declaration.region,
        )
        return MotoResource(model, name=name)

    def delete(self, resource: Resource, declaration: Declaration) -> None:
        """Delete it by its own method where it has one, else by its class's."""
        assert isinstance(resource, MotoResource)  # noqa: S101
        delete = getattr(resource.model, "delete", None)
        if delete is not None and delete.__code__.co_argcount == 3:
            delete(declaration.account_id, declaration.region)
        elif not hasattr(self._model.delete_from_cloudformation_json, "__isabstractmethod__"):
            self._model.delete_from_cloudformation_json(
                resource.physical_resource_id,
                self._json(resource.name, declaration),
                declaration.account_id,
                declaration.region,
            )

    def _recreate(
        self, resource: MotoResource, name: str, before: Declaration, declaration: Declaration
    ) -> Resource:
        self.delete(resource, before)
        try:
            return self._create(name, declaration)
        except Exception:
            self._create(resource.name, before)
            raise

    def _create(self, name: str, declaration: Declaration) -> Resource:
        model = self._model.create_from_cloudformation_json(
            name,
            self._json(name, declaration),
            declaration.account_id,
            declaration.region,
            LogicalId=declaration.logical_id,
            StackId=declaration.stack_id,
            ResourceType=declaration.type,
        )
        return MotoResource(model, name=name)

    @staticmethod
    def _own_name(declaration: Declaration) -> str:
        name_property = resource_name_property_from_type(declaration.type)
        return str(declaration.properties.get(name_property, "")) if name_property else ""

    @staticmethod
    def _json(name: str, declaration: Declaration) -> dict[str, Any]:
        # Several classes look for their name among the properties and fail, or invent another, without it.
        name_property = resource_name_property_from_type(declaration.type)
        properties = (
            {**declaration.properties, name_property: name} if name_property else dict(declaration.properties)
        )
        return {"Type": declaration.type, "Properties": properties}


class Parameter(MotoType):
    """`Ref` is the parameter's name."""

    def __init__(self) -> None:
        super().__init__(MotoParameter)  # type: ignore[type-abstract]

    def create(self, declaration: Declaration) -> Resource:
        """Make it with its tags."""
        return super().create(_tags_as_list(declaration))

    def update(self, resource: Resource, before: Declaration, declaration: Declaration) -> Resource:
        """Replace its value."""
        return super().update(resource, _tags_as_list(before), _tags_as_list(declaration))


def _tags_as_list(declaration: Declaration) -> Declaration:
    tags = [{"Key": key, "Value": value} for key, value in declaration.properties.get("Tags", {}).items()]
    return replace(declaration, properties={**declaration.properties, "Tags": tags})


NAMES = {
    "AWS::ECR::Repository": "RepositoryName",
    "AWS::Logs::LogGroup": "LogGroupName",
    "AWS::S3::Bucket": "BucketName",
}
"""The types that are looked up, with the property that has the name; on AWS all with a read handler are."""


def existing_resource(declaration: Declaration) -> Resource | None:
    """The resource of the account with the declared name; None if there is none, or no name is declared."""
    name = declaration.properties.get(NAMES.get(declaration.type, ""))
    model = None if name is None else _models(declaration).get(name)
    return None if model is None else MotoResource(model, name=str(name))


def _models(declaration: Declaration) -> dict[str, Any]:
    account, region = declaration.account_id, declaration.region
    if declaration.type == "AWS::ECR::Repository":
        return dict(ecr_backends[account][region].repositories)
    if declaration.type == "AWS::Logs::LogGroup":
        return dict(logs_backends[account][region].groups)
    return dict(s3_backends[account][get_partition(region)].buckets)
