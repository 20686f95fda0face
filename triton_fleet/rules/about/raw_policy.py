"""Rules about raw roles, images, models, tags and debugging, which the product and the environment decide.

None of them can be allowed in a spec, so they also check what other rules refuse only by default.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from triton_fleet.context.context import EndpointContext
from triton_fleet.context.machines import OWN_MODEL, POOLS, VARIANTS, further_variant, names_own_model
from triton_fleet.context.raw import RawProperty, computes, properties_at
from triton_fleet.context.registries import IMAGE, is_allowed, is_fleet_repository, literal_name
from triton_fleet.rules.raw import OWN_MODEL_NAME, RESOURCES, nested_keys, value_text
from triton_fleet.rules.rule import Problem, rule
from triton_fleet.spec.source import KeyPath

ROLE = "ExecutionRoleArn"
IMAGES = (IMAGE, "PrimaryContainer.ModelPackageName", "Containers")
"""Properties that decide which image a Model runs; a model package brings its own."""
CONFIGURATION = "EndpointConfigName"
MODEL_NAMES = ("ModelName", "ModelNameOverride")
MODELS = tuple(
    f"{variants}.*.{name}"
    for variants in VARIANTS
    for name in (MODEL_NAMES[0], f"{POOLS}.*.{MODEL_NAMES[1]}")
)
"""Properties that decide which Model a variant runs."""
MACRO = "Fn::Transform"
ROLE_ARN = re.compile(r"arn:[^:]+:iam::(?P<account>[0-9]{12}):")


@rule("FL346", source="docs/security.md", is_needed=True)
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
            match = ROLE_ARN.match(raw.value) if isinstance(raw.value, str) else None
            if match is not None and match["account"] != environment.account:
                theirs, ours = match["account"], environment.account
                message += f", of account {theirs}: SageMaker assumes only roles of {ours}"
            yield Problem(raw.path, message, endpoint.environment.allowance_hint("allowed_roles"))


@rule("FL349", source="docs/security.md", is_needed=True)
def disallowed_registry(endpoint: EndpointContext) -> Iterator[Problem]:
    """The container's image is SageMaker's own Triton image, or from a registry that the environment allows.

    The image's code runs with the endpoint's role, on every call. The registry is read from the name of the
    image, so a name that CloudFormation computes, or that a model package contains, is refused. The
    environment's `allowed_registries` names the exceptions; the endpoint's role may pull from them. Images
    that an environment builds are other endpoints' too, so `image` alone names them.
    """
    paths = set[KeyPath]()
    for raw in (raw for path in IMAGES for raw in properties_at(endpoint.spec, "Model", path)):
        reference = literal_name(raw.value) if raw.name == IMAGE else None
        hint = endpoint.environment.allowance_hint("allowed_registries")
        if reference is None:
            message = f"{raw.name} does not show which registry the image is from"
        elif is_fleet_repository(reference.repository):
            message = f"{reference.repository} has the images that an environment builds for its endpoints"
            hint = "write `image`: the lock then records which image the endpoint runs"
        elif not is_allowed(reference.registry, reference.repository, endpoint.environment):
            message = f"the image is from {reference.place}, which the environment does not allow"
        else:
            continue
        if raw.path not in paths:
            paths.add(raw.path)
            yield Problem(raw.path, message, hint)


@rule("FL560", source="docs/security.md", is_needed=True)
def foreign_model_or_configuration(endpoint: EndpointContext) -> Iterator[Problem]:
    """An endpoint runs the endpoint configuration and the Model of its own stack.

    Another Model has its own role, image and network, and another configuration its own instances and key, so
    that no rule and no policy would know what runs. The stack creates one Model, which gets a new name from
    CloudFormation at every change.
    """
    for raw in properties_at(endpoint.spec, "Endpoint", CONFIGURATION):
        message = f"{raw.name} replaces the endpoint configuration that the spec describes"
        yield Problem(raw.path, message, "leave it out")
    properties = (raw for path in MODELS for raw in properties_at(endpoint.spec, "EndpointConfig", path))
    for raw in {raw.path: raw for raw in properties}.values():
        if further_variant(raw):  # refused as a whole
            continue
        last = {raw.parts[-1]: raw.value}
        keys = [*((part, last) for part in raw.parts[:-1]), *nested_keys(last)]
        names = [MACRO if key == MACRO else inner for key, inner in keys if key in (MACRO, *MODEL_NAMES)]
        if foreign := [name for name in names if name is not None and not names_own_model(name)]:
            message = f"{raw.name} {_reason(foreign[0])}"
            yield Problem(raw.path, message, f"write `{OWN_MODEL_NAME}`, the spec's model")


def _reason(name: object) -> str:
    """Why something does not name the spec's model."""
    if isinstance(name, Mapping) or name == MACRO:
        is_arn = isinstance(name, Mapping) and name.get("Ref") == OWN_MODEL
        return "is the ARN of the spec's Model, not its name" if is_arn else "may name another Model"
    return f"names the model {value_text(name)}, which the endpoint's stack does not create"


@rule("FL562", source="docs/security.md", is_needed=True)
def replaced_product_tag(endpoint: EndpointContext) -> Iterator[Problem]:
    """No raw property sets tags: a raw list replaces those of product, environment and spec.

    Roles know an environment's endpoints by their tags. Without them, roles of another environment could call
    and change the endpoint, but the roles of its own could not.
    """
    for resource in RESOURCES:
        for raw in properties_at(endpoint.spec, resource, "Tags"):
            message = f"{raw.name} of {resource} replaces the tags that the product sets"
            yield Problem(raw.path, message, "write `tags`")


@rule("FL563", source="docs/security.md", is_needed=True)
def disallowed_shell_access(endpoint: EndpointContext) -> Iterator[Problem]:
    """Nobody opens a shell in a container unless the environment allows it.

    A shell through AWS Systems Manager has the endpoint's role and sees every call. The environment's
    `shell_access` allows it.
    """
    if endpoint.environment.shell_access or endpoint.environment.is_local:
        return
    for raw in _of_variants(endpoint, "EnableSSMAccess"):
        if raw.value is not False and not raw.takes_out:
            state = "is true" if raw.value is True else "may be true"
            message = f"{raw.name} {state}: the environment allows no shell in a container"
            file = endpoint.environment.file
            hint = f"leave it out, or write `shell_access: true` in {file}: a spec cannot `allow` it"
            yield Problem(raw.path, message, hint)


@rule("FL564", source="docs/security.md", is_needed=True)
def disallowed_core_dump(endpoint: EndpointContext) -> Iterator[Problem]:
    """Core dumps of a container are written only to where the environment allows it.

    A core dump holds the memory of the server, with the calls that it answers. The environment's
    `allowed_core_dumps` names the prefixes in S3.
    """
    if endpoint.environment.is_local:
        return
    folders = [dump.rstrip("/") for dump in endpoint.environment.allowed_core_dumps]
    for raw in _of_variants(endpoint, "CoreDumpConfig.DestinationS3Uri"):
        value = "" if computes(raw) else raw.value
        if isinstance(value, str) and any(f"{value}/".startswith(f"{folder}/") for folder in folders):
            continue
        message = f"{raw.name} is {value_text(raw.value)}, which the environment does not allow"
        yield Problem(raw.path, message, endpoint.environment.allowance_hint("allowed_core_dumps"))


def _of_variants(endpoint: EndpointContext, name: str) -> Iterator[RawProperty]:
    """The raw properties that decide a property of any variant."""
    for variants in VARIANTS:
        yield from properties_at(endpoint.spec, "EndpointConfig", f"{variants}.*.{name}")
