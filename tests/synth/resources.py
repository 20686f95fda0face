"""Resources of a template, and specs of each kind of endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_cdk.assertions import Template

from tests.support.fleet_folder import SPEC

BUCKET = "triton-fleet-dev-111122223333-us-east-1"
SCALING_KEYS = (
    "scaling: {min: 1, max: 4, invocations_per_instance: 600, gpu_utilization: 60, scale_in: 10m}\n"
)
MULTI_MODEL = """\
endpoint: sentences
mode: multi-model
triton: "25.04"
instance: {type: ml.g5.xlarge}
models:
  - {archive: sentences, repository: ../repository}
"""
STACK = "triton-fleet-dev-sentences"
TARGETS = "min: 1, max: 4, invocations_per_instance: 60, concurrent_requests: 2, cpu_utilization: 50"
ROLLOUT = "rollout: {strategy: all-at-once}"
ALARMS = (
    "errors: 2%, latency_p50: 100ms, latency_p90: 150ms, latency_p99: {warning: 200ms, critical: 1s},"
    " overhead_p99: 50ms, client_errors: 10%, model_errors: 3%, cpu_utilization: 90%, memory: 80%, disk: 70%,"
    " at_capacity: 15m, pending_requests: 20"
)
ALARMS_OF_GPUS = "gpu_utilization: 95%, gpu_memory: 90%"
ALARMS_OF_SEVERAL_MODELS = "model_load: 20s, loading_wait: 2s, cache_hits: 80%"


def alarm_keys(*alarms: str) -> str:
    return f"{ROLLOUT}\nalarms: {{{', '.join((ALARMS, *alarms))}}}\n"


KINDS = {
    "gpu": (SPEC, f"scaling: {{{TARGETS}, gpu_utilization: 60}}\n{alarm_keys(ALARMS_OF_GPUS)}"),
    "cpu": (SPEC.replace("g5", "c5"), f"scaling: {{{TARGETS}}}\n{alarm_keys()}"),
    "multi-model": (
        MULTI_MODEL,
        f"scaling: {{{TARGETS}, gpu_utilization: 60}}\n"
        + alarm_keys(ALARMS_OF_GPUS, ALARMS_OF_SEVERAL_MODELS),
    ),
}
"""Specs of each kind that use all metrics which that kind has."""


def only_resource(template: Template, kind: str) -> dict[str, Any]:
    (resource,) = template.find_resources(kind).values()
    return dict(resource)


def statements(template: Template) -> dict[str, dict[str, Any]]:
    """The statements of all policies of an endpoint's stack."""
    policies = template.find_resources("AWS::IAM::Policy").values()
    documents = [policy["Properties"]["PolicyDocument"] for policy in policies]
    return {statement["Sid"]: statement for document in documents for statement in document["Statement"]}


def notified_topics(template: Mapping[str, Any], alarm: Mapping[str, Any]) -> list[str]:
    """The names in the parameter store of the topics that an alarm notifies."""
    return [template["Parameters"][alarm_action["Ref"]]["Default"] for alarm_action in alarm["AlarmActions"]]


def dimensions_of(policy: Mapping[str, Any]) -> dict[str, str]:
    configuration = policy["Properties"]["TargetTrackingScalingPolicyConfiguration"]
    dimensions = configuration["CustomizedMetricSpecification"]["Dimensions"]
    return {dimension["Name"]: or_endpoint(dimension["Value"]) for dimension in dimensions}


def or_endpoint(value: object) -> str:
    """A dimension's value; any reference, and the endpoint's name, stand for the endpoint."""
    return value if isinstance(value, str) and value != "sentences" else "ENDPOINT"


def join_strings(body: Any) -> str:
    """A text that CloudFormation puts together, with its references as `${NAME}`."""
    match body:
        case {"Fn::Join": ["", parts]}:
            return "".join(map(join_strings, parts))
        case {"Fn::GetAtt": [resource, attribute]}:
            return f"${{{resource}.{attribute}}}"
        case {"Ref": name}:
            return f"${{{name}}}"
    return str(body)
