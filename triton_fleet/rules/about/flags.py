"""Rules about further flags of tritonserver."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.catalog.limits import guide_body_limit
from triton_fleet.catalog.variables import (
    flags,
    flags_of_single_mode,
    flags_of_the_shared_container,
    flags_of_the_start_script,
    variable_of_flag,
    variables,
)
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.variables import ADDITIONAL_ARGS, DEFAULT_MODEL, PREFIX, set_by_spec
from triton_fleet.findings import Severity
from triton_fleet.rules.rule import Problem, rule
from triton_fleet.spec.container import LOAD_MODEL, Container
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.problems import did_you_mean
from triton_fleet.spec.source import KeyPath

SERVE = "https://github.com/triton-inference-server/server/blob/main/docker/sagemaker/serve"
BODY_FLAG = "--http-max-input-size"


@rule("FL217", source=SERVE)
def single_model_flag(endpoint: EndpointContext) -> Iterator[Problem]:
    """A multi-model container has no flags that load models or turn off model namespaces.

    It starts with an empty repository, and SageMaker loads each target when it is called.
    """
    for path, flag in _flags(endpoint) if endpoint.spec.mode is Mode.MULTI_MODEL else ():
        if flag.startswith(flags_of_single_mode()):
            message = f"`additional_args` has {flag}, with which a multi-model container does not work"
            yield Problem(path, message, "leave it out; SageMaker loads each target when it is called")


@rule("FL243", source=SERVE)
def start_script_flag(endpoint: EndpointContext) -> Iterator[Problem]:
    """`additional_args` does not repeat flags of the container's start script.

    The start script always loads one model by name. `--load-model=*` must be the only such flag, so the
    server exits with it as well.
    """
    single, is_shared = (endpoint.spec.mode is mode for mode in (Mode.SINGLE, Mode.SHARED_CONTAINER))
    own = flags_of_the_shared_container() if is_shared else flags_of_the_start_script()
    for path, flag in _flags(endpoint):
        name, _, value = flag.partition("=")
        if (is_shared and name in own) or (name in own and (single or name not in flags_of_single_mode())):
            yield Problem(path, f"`additional_args` has {flag}: {own[name]}", "leave it out")
        elif single and name == LOAD_MODEL and "*" in value:
            message = (
                f"`additional_args` has {flag}, but the start script already loads the default model by name"
            )
            yield Problem(path, message, "name each further model, such as `--load-model=NAME`")


@rule("FL244", source=SERVE)
def flag_with_own_key(endpoint: EndpointContext) -> Iterator[Problem]:
    """A setting with its own key or variable is not given as a flag; flags are given in `additional_args`.

    Otherwise a setting could have two values, and the rules do not read flags in a variable.
    """
    for path, flag in _flags(endpoint):
        variable, elsewhere = variable_of_flag(flag), {*flags_of_single_mode(), *flags_of_the_start_script()}
        if variable is not None and flag.partition("=")[0] not in elsewhere:
            key = variable.removeprefix(PREFIX).lower()
            in_container = key in Container.model_fields
            instead = f"`{key}:` in `container`" if in_container else f"{variable} in `environment`"
            message = f"`additional_args` has {flag}, which {variable} sets"
            yield Problem(path, message, f"write {instead} instead")
    if ADDITIONAL_ARGS in endpoint.spec.environment:
        flags = ", ".join(endpoint.spec.environment[ADDITIONAL_ARGS].split())
        message = f"`environment` sets {ADDITIONAL_ARGS}, which `container` has a key for"
        hint = f"write `additional_args: [{flags}]` in `container` instead"
        yield Problem(("environment", ADDITIONAL_ARGS), message, hint)


@rule(
    "FL285", source="https://github.com/triton-inference-server/server/blob/main/src/command_line_parser.cc"
)
def unknown_flag(endpoint: EndpointContext) -> Iterator[Problem]:
    """Tritonserver knows the flag: it exits at startup on an unknown one."""
    for path, flag in _flags(endpoint):
        name = flag.partition("=")[0]
        if name not in flags():
            near = did_you_mean(name, flags())
            certain = "did you mean" in near
            hint = near if certain else "`tritonserver --help` lists them"
            yield Problem(path, f"{name} is not a known flag of tritonserver", hint, certain)


@rule("FL286", source=SERVE)
def unknown_further_model(endpoint: EndpointContext) -> Iterator[Problem]:
    """Every model that a `--load-model` flag names is in the repository."""
    names = [model.name for model in endpoint.models]
    for path, flag in _flags(endpoint) if names and endpoint.spec.mode is Mode.SINGLE else ():
        name, _, model = flag.partition("=")
        if name == LOAD_MODEL and model not in (*names, "*"):
            message = f"`additional_args` loads {model!r}, which is not in the repository"
            yield Problem(path, message, did_you_mean(model, names))


@rule("FL210", source=SERVE)
def variable_of_other_mode(endpoint: EndpointContext) -> Iterator[Problem]:
    """Every setting of the container has an effect in the endpoint's mode.

    A multi-model container ignores `inference_type`, for example: all its calls are of type `infer`.
    """
    mode, is_shared = endpoint.spec.mode.value, endpoint.spec.mode is Mode.SHARED_CONTAINER
    for name, path in set_by_spec(endpoint.spec).items():
        about = variables().get(name)
        if about is None or about.dead or mode in about.modes:
            continue
        if not is_shared and (about.set_by != "user" or name == DEFAULT_MODEL):  # other rules report it
            continue
        name_text = f"`{path[-1]}`" if path[0] == "container" else name
        hint = f"leave it out, or write `mode: {about.modes[0]}`" if about.modes else "leave it out"
        yield Problem(path, f"{name_text} has no effect on a {mode} endpoint", hint)


@rule(
    "FL265",
    Severity.WARNING,
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/hosting-faqs.html",
)
def ineffective_body_limit(endpoint: EndpointContext) -> Iterator[Problem]:
    """The server's body limit is not set: SageMaker's own is lower than Triton's default of 64 MiB."""
    for path, flag in _flags(endpoint):
        if flag.partition("=")[0] == BODY_FLAG:
            message = (
                f"`additional_args` has {flag}: SageMaker accepts bodies of up to"
                f" {guide_body_limit().words}, Triton accepts 64 MiB by default"
            )
            yield Problem(path, message, "leave it out")


def _flags(endpoint: EndpointContext) -> Iterator[tuple[KeyPath, str]]:
    """Each further flag with its place."""
    for index, flag in enumerate(endpoint.spec.container.additional_args):
        yield ("container", "additional_args", index), flag
