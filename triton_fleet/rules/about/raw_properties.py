"""Rules about the raw properties of `cloudformation`: resources, overrides, functions, storage."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from triton_fleet.catalog.api_ledger import Decision
from triton_fleet.catalog.instances import takes_no_volume
from triton_fleet.context.context import EndpointContext, machines_with_volume
from triton_fleet.context.raw import is_intrinsic, path_names, raw_properties
from triton_fleet.findings import Severity
from triton_fleet.rules.raw import RESOURCES, WHOLES, decided_members, nested_keys, outermost, value_text
from triton_fleet.rules.rule import INSTANCE_TYPE, Problem, rule
from triton_fleet.spec.problems import did_you_mean

NAMES = {"ModelName": "Model", "EndpointConfigName": "EndpointConfig"}


@rule("FL208", source="the resources of an endpoint's stack", is_needed=True)
def unknown_raw_resource(endpoint: EndpointContext) -> Iterator[Problem]:
    """`cloudformation` names only resources of an endpoint's stack."""
    for name in endpoint.spec.cloudformation:
        if name not in RESOURCES:
            message = f"`cloudformation` names {name!r}, which is not a resource of an endpoint's stack"
            yield Problem(("cloudformation", name), message, did_you_mean(name, RESOURCES))


@rule(
    "FL264",
    source="https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-sagemaker-model.html",
)
def fixed_resource_name(endpoint: EndpointContext) -> Iterator[Problem]:
    """Model and endpoint configuration keep the names that CloudFormation chooses.

    Every change replaces both, and a second resource of the same name cannot be created: the next deploy
    fails.
    """
    for name, resource in NAMES.items():
        for raw in raw_properties(endpoint.spec, resource):
            if raw.name == name:
                message = f"a fixed {name} cannot be replaced: the next change of the endpoint fails"
                yield Problem(raw.path, message, "leave it out")


OVERRIDES = "https://docs.aws.amazon.com/cdk/v2/guide/cfn-layer.html"


@rule("FL263", source="docs/check.md")
def raw_property_with_own_key(endpoint: EndpointContext) -> Iterator[Problem]:
    """No raw property sets what a key of the spec sets.

    Rules, scaling, the dashboard and `fleet show` rely on the spec, and would describe another endpoint than
    the deployed one. For a host image and for time-outs this is only a warning. An endpoint has one model
    with one container.
    """
    for resource in RESOURCES:
        decided_properties = list(
            outermost(endpoint, resource, decided_members(resource, Decision.REFUSED, Decision.OURS))
        )
        for raw, member in outermost(endpoint, resource, decided_members(resource, Decision.KEY)):
            if any(decided_raw.path[: len(raw.path)] == raw.path for decided_raw, _ in decided_properties):
                continue  # reported below: no key can set it
            message = f"the raw property {raw.name} sets what `{member.key}` sets"
            yield Problem(raw.path, message, f"write `{member.key}` instead", certain=not member.is_checked)
        for raw, member in decided_properties:
            yield Problem(raw.path, f"{raw.name} must not be set: {member.reason}", "leave it out")


@rule("FL298", source=OVERRIDES)
def raw_list_replacement(endpoint: EndpointContext) -> Iterator[Problem]:
    """No raw value replaces the whole variant or the whole container.

    CDK merges a mapping into the template, but a list, a single value or an intrinsic function replaces what
    is in it: the spec's model, instance type and count are lost.
    """
    for resource, names in WHOLES.items():
        for raw in raw_properties(endpoint.spec, resource):
            replaces = not isinstance(raw.value, Mapping) or is_intrinsic(raw.value)
            if raw.name in names and replaces and (raw.value is not None or raw.takes_out):
                below = f"{raw.name}.0" if raw.name == "ProductionVariants" else raw.name
                noun = "a list" if isinstance(raw.value, list | tuple) else value_text(raw.value)
                message = f"{noun} for {raw.name} replaces everything that the spec sets there"
                yield Problem(raw.path, message, f"write `{below}.KEY` for each key to change")


_NAME = r"[A-Za-z0-9]+"
_PSEUDO_PARAMETER = r"AWS::(AccountId|Partition|Region|StackId|StackName|URLSuffix)"
_ATTRIBUTE = rf"{_NAME}(\.{_NAME})+"
NAME = re.compile(_NAME)
REFERENCE = re.compile(rf"{_NAME}|{_PSEUDO_PARAMETER}|AWS::NoValue")
ATTRIBUTE = re.compile(_ATTRIBUTE)
ATTRIBUTE_NAME = re.compile(rf"{_NAME}(\.{_NAME})*")
TEXT = re.compile(rf"([^${{}}]|\$\{{({_NAME}|{_ATTRIBUTE}|{_PSEUDO_PARAMETER})\}})*")
"""A text of `Fn::Sub` that yields no brace: `${!` yields `${`, and an empty variable joins what is around it.

Source: intrinsic-function-reference-sub.html of the CloudFormation user guide.
"""
FUNCTIONS = ("Ref", "Fn::GetAtt", "Fn::If", "Fn::Sub")
"""Functions that lead to values of the same stack and region."""


@rule("FL561", source="docs/security.md", is_needed=True)
def disallowed_raw_function(endpoint: EndpointContext) -> Iterator[Problem]:
    """Raw properties use only functions of CloudFormation that lead to values of their own stack.

    Others read what other stacks export, or put together a text such as a reference to a secret, which
    CloudFormation resolves with the role that deploys. So a text of `Fn::Sub` has `${NAME}`,
    `${NAME.ATTRIBUTE}` and `${AWS::Region}` or its siblings, and no other `$`, `{` or `}`.
    """
    for resource in RESOURCES:
        for key, value in endpoint.spec.cloudformation.get(resource, {}).items():
            *outer, last = path_names(key)
            functions = [*((name, None) for name in outer), *nested_keys({last: value})]
            for name, argument in functions:
                if (name == "Ref" or name.startswith("Fn::")) and not _is_allowed(name, argument):
                    message = f"{key} of {resource} uses {name}"
                    if name in FUNCTIONS and argument is not None:
                        message += f" with {value_text(argument)}"
                    hint = f"write the value itself, or use {', '.join(FUNCTIONS)}"
                    if name == "Fn::Sub":
                        hint += "; its text has `${NAME}` or `${NAME.ATTRIBUTE}`, and no other `$`, `{`, `}`"
                    yield Problem(("cloudformation", resource, key), message, hint)
                    break


def _is_allowed(name: str, argument: object) -> bool:
    """Whether it leads to what it shows; what is inside of `Fn::If` is looked at by itself."""
    match name, argument:
        case "Ref", str(reference):
            return REFERENCE.fullmatch(reference) is not None
        case "Fn::GetAtt", str(attribute):
            return ATTRIBUTE.fullmatch(attribute) is not None
        case "Fn::GetAtt", [str(resource), str(attribute)]:
            return NAME.fullmatch(resource) is not None and ATTRIBUTE_NAME.fullmatch(attribute) is not None
        case "Fn::If", [str(condition), _, _]:
            return NAME.fullmatch(condition) is not None
        case "Fn::Sub", str(text):
            return TEXT.fullmatch(text) is not None
    return False


@INSTANCE_TYPE.rule(
    "FL230",
    source="https://github.com/aws/sagemaker-python-sdk/blob/master/sagemaker-core/src/sagemaker/core/utils",
)
def volume_size_beside_local_storage(endpoint: EndpointContext) -> Iterator[Problem]:
    """No volume size is set for instances with local NVMe storage.

    SageMaker refuses it: "VolumeSize parameter is not allowed for the selected Instance type".
    """
    machine = endpoint.machine
    if machine is None or not machine.nvme_gb:
        return
    raw = endpoint.raw_variants.get(endpoint.variant, {}).get(("VolumeSizeInGB",))
    if raw is not None:
        message = (
            f"{machine.type} has {machine.nvme_gb} GB of local storage: SageMaker accepts no volume size"
        )
        yield Problem(raw.path, message, "leave it out", certain=takes_no_volume(machine))


@rule(
    "FL231",
    Severity.WARNING,
    source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateEndpointConfig.html",
)
def volume_key_beside_local_storage(endpoint: EndpointContext) -> Iterator[Problem]:
    """No KMS key is set for instances whose hardware encrypts their local storage.

    SageMaker accepts the key, but does not encrypt local storage with it.
    """
    machine = endpoint.machine
    if machine is None or machines_with_volume(endpoint):
        return
    for raw in raw_properties(endpoint.spec, "EndpointConfig"):
        if raw.name == "KmsKeyId":
            message = f"{machine.type} keeps models on local storage, which the key does not encrypt"
            yield Problem(raw.path, message, "leave it out; local storage is encrypted by its own hardware")
