"""Resources of a template."""

from __future__ import annotations

from typing import Any

from aws_cdk.assertions import Template

BUCKET = "triton-fleet-dev-111122223333-us-east-1"


def only(template: Template, kind: str) -> dict[str, Any]:
    (resource,) = template.find_resources(kind).values()
    return dict(resource)


def statements(template: Template) -> dict[str, dict[str, Any]]:
    policy = only(template, "AWS::IAM::Policy")["Properties"]["PolicyDocument"]
    return {statement["Sid"]: statement for statement in policy["Statement"]}
