"""Foundation's parts for builds of engines and images, read off its template."""

from __future__ import annotations

from typing import Any

from aws_cdk import App
from aws_cdk.assertions import Template

from fleet_stacks.fleet_app import add_fleet
from tests.synth.resources import BUCKET
from triton_fleet.endpoint.resolved_endpoint import ResolvedFleet
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.environment import Environment

ENGINES = f"arn:aws:s3:::{BUCKET}/engines"
JOB = "triton-fleet-dev-engines-job"
IMAGES = "triton-fleet-dev-images"


def foundation(region: str = "us-east-1", **keys: Any) -> Template:
    """Foundation of an environment with these keys, past cdk-nag."""
    environment = Environment.model_validate(
        {"environment": "dev", "account": "111122223333", "region": region, **keys}
    )
    app = App()
    add_fleet(app, ResolvedFleet(deployment=Deployment.of(environment), endpoints=()))
    (stack,) = app.synth().stacks
    return Template.from_json(stack.template)


def engine_projects(template: Template) -> dict[str, dict[str, Any]]:
    """Those that build engines, by name."""
    return {name: project for name, project in projects(template).items() if name != IMAGES}


def failure_rule(template: Template, what: str) -> dict[str, Any]:
    """The rule that reports failed builds of an `engine` or an `image`."""
    rules = [resource["Properties"] for resource in template.find_resources("AWS::Events::Rule").values()]
    (rule,) = [rule for rule in rules if rule["Name"] == f"triton-fleet-dev-{what}-failures"]
    return dict(rule)


def projects(template: Template) -> dict[str, dict[str, Any]]:
    """All of them, by name."""
    resources = template.find_resources("AWS::CodeBuild::Project").values()
    return {resource["Properties"]["Name"]: resource["Properties"] for resource in resources}


def project_statements(template: Template, project: str) -> dict[str, dict[str, Any]]:
    """The statements of a project's role."""
    return _statements(template, projects(template)[project]["ServiceRole"]["Fn::GetAtt"][0])


def granted_to_jobs(template: Template) -> dict[str, dict[str, Any]]:
    """Those of the role that jobs run as."""
    return _statements(template, job_role_parameter(template)["Value"]["Fn::GetAtt"][0])


def _statements(template: Template, role: str) -> dict[str, dict[str, Any]]:
    policies = template.find_resources("AWS::IAM::Policy").values()
    (policy,) = [
        policy["Properties"] for policy in policies if {"Ref": role} in policy["Properties"]["Roles"]
    ]
    return {statement["Sid"]: statement for statement in policy["PolicyDocument"]["Statement"]}


def job_role_parameter(template: Template) -> dict[str, Any]:
    parameters = template.find_resources("AWS::SSM::Parameter").values()
    (properties,) = [
        parameter["Properties"]
        for parameter in parameters
        if parameter["Properties"]["Name"] == "/triton-fleet/dev/engine-job-role"
    ]
    return dict(properties)
