"""Rules about raw roles, images, models and functions, which the product and the environment decide.

None of them can be allowed in a spec, so they also check what other rules refuse only by default.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from fleet.endpoint.context.context import EndpointContext
from fleet.endpoint.context.machines import (
    OWN_MODEL,
    POOLS,
    VARIANTS,
    further_variant,
    names_own_model,
)
from fleet.endpoint.context.raw import path_names, properties_at
from fleet.endpoint.context.registries import IMAGE, is_allowed, literal_name
from fleet.rules.raw import OWN_MODEL_NAME, RESOURCES, value_text
from fleet.rules.rule import Problem, rule
from fleet.spec.source import KeyPath

ROLE = "ExecutionRoleArn"
IMAGES = (IMAGE, "PrimaryContainer.ModelPackageName", "Containers")
"""What decides which image a Model runs; a model package brings its own."""
CONFIGURATION = "EndpointConfigName"
MODEL_NAMES = ("ModelName", "ModelNameOverride")
MODELS = tuple(
    f"{variants}.*.{name}"
    for variants in VARIANTS
    for name in (MODEL_NAMES[0], f"{POOLS}.*.{MODEL_NAMES[1]}")
)
"""What decides which Model a variant runs."""
MACRO = "Fn::Transform"
PRODUCT_TAG = "triton-fleet:"
SUBSTITUTION = "Fn::Sub"
FUNCTIONS = ("Ref", "Fn::GetAtt", "Fn::If", SUBSTITUTION)
"""What leads to values of the same stack and region; `Fn::Sub` with one text alone."""
ROLE_ARN = re.compile(r"arn:[^:]+:iam::(?P<account>[0-9]{12}):")


@rule("FL346", source="docs/security.md", needed=True)
def disallowed_role(endpoint: EndpointContext) -> Iterator[Problem]:
    """The endpoint's role is the one that the product creates, or one that the environment allows.

    With another role, a spec could run its models with any permissions of that role, outside the
    environment's `permissions_boundary`; SageMaker cannot assume a role of another account.
    The environment's `allowed_roles` names the exceptions.
    """
    environment = endpoint.environment
    for resource in ("Model", "EndpointConfig"):
        for raw in properties_at(endpoint.spec, resource, ROLE):
            if raw.name == ROLE and raw.value in environment.allowed_roles:
                continue
            message = f"{raw.name} of {resource} gives the endpoint a role that the product did not create"
            found = ROLE_ARN.match(raw.value) if isinstance(raw.value, str) else None
            if found is not None and found["account"] != environment.account:
                theirs, ours = found["account"], environment.account
                message += f", of account {theirs}: SageMaker assumes only roles of {ours}"
            yield Problem(raw.path, message, _hint(endpoint, "allowed_roles"))


@rule("FL349", source="docs/security.md", needed=True)
def disallowed_registry(endpoint: EndpointContext) -> Iterator[Problem]:
    """The container's image is from a registry of SageMaker, or from one that the environment allows.

    The image's code runs with the endpoint's role, on every call. The registry is read from the name of the
    image, so a name that CloudFormation computes, or that a model package contains, is refused. The
    environment's `allowed_registries` names the exceptions; the endpoint's role may pull from them.
    """
    reported = set[KeyPath]()
    for raw in (raw for path in IMAGES for raw in properties_at(endpoint.spec, "Model", path)):
        reference = literal_name(raw.value) if raw.name == IMAGE else None
        if reference is None:
            message = f"{raw.name} does not show which registry the image is from"
        elif not is_allowed(reference.registry, endpoint.environment):
            message = (
                f"the image is from the registry {reference.registry}, which the environment does not allow"
            )
        else:
            continue
        if raw.path not in reported:
            reported.add(raw.path)
            yield Problem(raw.path, message, _hint(endpoint, "allowed_registries"))


@rule("FL560", source="docs/security.md", needed=True)
def foreign_model_or_configuration(endpoint: EndpointContext) -> Iterator[Problem]:
    """An endpoint runs the endpoint configuration and the Model of its own stack.

    Another Model has its own role, image and network, and another configuration its own instances and key, so
    that no rule and no policy would know what runs. The stack creates one Model, which gets a new name from
    CloudFormation at every change.
    """
    for raw in properties_at(endpoint.spec, "Endpoint", CONFIGURATION):
        message = f"{raw.name} replaces the endpoint configuration that the spec describes"
        yield Problem(raw.path, message, "leave it out")
    found = (raw for path in MODELS for raw in properties_at(endpoint.spec, "EndpointConfig", path))
    for raw in {raw.path: raw for raw in found}.values():
        if further_variant(raw):  # refused as a whole
            continue
        last = {raw.parts[-1]: raw.value}
        keys = [*((part, last) for part in raw.parts[:-1]), *_keys(last)]
        named = [MACRO if key == MACRO else inner for key, inner in keys if key in (MACRO, *MODEL_NAMES)]
        if foreign := [each for each in named if each is not None and not names_own_model(each)]:
            message = f"{raw.name} {_reason(foreign[0])}"
            yield Problem(raw.path, message, f"write `{OWN_MODEL_NAME}`, the spec's model")


def _reason(named: object) -> str:
    """Why something does not name the spec's model."""
    if isinstance(named, Mapping) or named == MACRO:
        is_arn = isinstance(named, Mapping) and named.get("Ref") == OWN_MODEL
        return "is the ARN of the spec's Model, not its name" if is_arn else "may name another Model"
    return f"names the model {value_text(named)}, which the endpoint's stack does not create"


@rule("FL561", source="docs/security.md", needed=True)
def disallowed_raw_function(endpoint: EndpointContext) -> Iterator[Problem]:
    """Raw properties use only functions of CloudFormation that lead to values of their own stack.

    Others read what other stacks export, or put together a text such as a reference to a secret, which
    CloudFormation resolves with the role that deploys.
    """
    for resource in RESOURCES:
        for key, value in endpoint.spec.cloudformation.get(resource, {}).items():
            used = [*((name, None) for name in path_names(key)), *_keys(value)]
            if wrong := next((name for name, argument in used if _is_disallowed(name, argument)), None):
                message = f"{key} of {resource} uses {wrong}"
                hint = f"write the value itself, or use {', '.join(FUNCTIONS)}"
                yield Problem(("cloudformation", resource, key), message, hint)


@rule("FL562", source="docs/security.md", needed=True)
def replaced_product_tag(endpoint: EndpointContext) -> Iterator[Problem]:
    """No raw property sets the tags by which roles know an environment's endpoints.

    A raw list replaces the product's tags. Then roles of another environment could call and change the
    endpoint, but the roles of its own could not.
    """
    for resource in RESOURCES:
        for raw in properties_at(endpoint.spec, resource, "Tags"):
            texts = [str(inner) for key, inner in _keys({raw.parts[-1]: raw.value}) if key == "Key"]
            if resource == "Endpoint" or any(PRODUCT_TAG in each for each in texts):
                message = f"{raw.name} of {resource} replaces the tags that the product sets"
                yield Problem(raw.path, message, "write `tags`")


def _keys(value: object) -> Iterator[tuple[str, object]]:
    """All keys in a value, each with what it stands for."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key), inner
            yield from _keys(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _keys(inner)


def _is_disallowed(name: str, argument: object) -> bool:
    """Whether it is a function of CloudFormation that may lead to another value than it shows."""
    if name == SUBSTITUTION:  # a second argument could be half of a reference
        return not isinstance(argument, str) or "{{" in argument
    return name.startswith("Fn::") and name not in FUNCTIONS


def _hint(endpoint: EndpointContext, key: str) -> str:
    file = f"environments/{endpoint.environment.environment}.yaml"
    return f"leave it out, or add it to `{key}` in {file}: a spec cannot `allow` it"
