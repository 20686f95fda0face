"""Somebody else's app with our constructs in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from aws_cdk import App, Environment, Stack, Validations
from aws_cdk.assertions import Template
from cdk_nag import AwsSolutionsChecks

from triton_endpoints import EndpointSupport, Instance, SageMakerModel, TritonEndpoint, TritonModel

ACCOUNT, REGION = "111122223333", "us-east-1"
HOST_ENVIRONMENT = Environment(account=ACCOUNT, region=REGION)
DATA = "s3://their-models/embed/model.tar.gz"


@dataclass
class Host:
    """An app with one stack, in which cdk-nag is a gate unless the app has resources that it refuses."""

    app: App = field(default_factory=App)
    name: str = "Host"
    is_audited: bool = True

    def __post_init__(self) -> None:
        if self.is_audited:
            Validations.of(self.app).add_plugins(AwsSolutionsChecks(self.app))
        self.stack = Stack(self.app, self.name, env=HOST_ENVIRONMENT)

    def support(self, scope: Stack | None = None, **props: Any) -> EndpointSupport:
        return EndpointSupport(scope or self.stack, "Support", **{"environment": "prod", **props})

    def endpoint(self, id: str = "Embeddings", *, scope: Stack | None = None, **props: Any) -> TritonEndpoint:
        plain = {
            "endpoint_name": id.lower(),
            "triton": "25.04",
            "environment": "prod",
            "instance": Instance(type="ml.g5.xlarge"),
            "model": TritonModel.single(DATA, default_model="embed"),
        }
        return TritonEndpoint(scope or self.stack, id, **{**plain, **props})

    def template(self, stack: str = "Host") -> Template:
        return Template.from_json(self.app.synth().get_stack_by_name(stack).template)

    def problems(self) -> list[str]:
        """Errors of synth, each with its construct's path; empty where it succeeds."""
        try:
            self.app.synth()
        except RuntimeError as error:
            return [line.strip() for line in str(error).splitlines() if line.strip().startswith("[")]
        return []


def a_model(host: Host, **props: Any) -> SageMakerModel:
    plain = {
        "endpoint_name": "embeddings",
        "triton": "25.04",
        "environment": "prod",
        "instance": Instance(type="ml.g5.xlarge"),
        "model": TritonModel.single(DATA, default_model="embed"),
    }
    return SageMakerModel(host.stack, "Model", **{**plain, **props})


def properties(template: Template, kind: str, part: str = "") -> dict[str, Any]:
    """The properties of the one resource of a type whose logical id begins with `part`."""
    resources = [resource for id, resource in template.find_resources(kind).items() if id.startswith(part)]
    (resource,) = resources
    return dict(resource["Properties"])


def statements(template: Template, part: str) -> dict[str, Any]:
    """The statements of the policies whose logical ids begin with `part`, by their ids."""
    policies = template.find_resources("AWS::IAM::Policy").items()
    actual_statements = [
        statement
        for id, policy in policies
        if id.startswith(part)
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
    ]
    return {
        actual_statement.get("Sid", str(actual_statement["Action"])): actual_statement
        for actual_statement in actual_statements
    }
