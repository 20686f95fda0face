"""Rules about further flags of tritonserver."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.catalog.front_end import flags_of_single_mode, flags_of_the_start_script, variable_of_flag
from fleet.catalog.variables import variables
from fleet.decide.decided import Decided
from fleet.decide.variables import DEFAULT_MODEL, PREFIX
from fleet.findings import Severity
from fleet.rules.rule import Problem, rule
from fleet.spec.container import Container
from fleet.spec.endpoint import Mode
from fleet.spec.source import KeyPath

SERVE = "https://github.com/triton-inference-server/server/blob/main/docker/sagemaker/serve"
BODY_FLAG = "--http-max-input-size"


@rule("FL217", source=SERVE)
def no_single_model_flags_in_multi_model(endpoint: Decided) -> Iterator[Problem]:
    """A multi-model container gets no flags that load models or turn their namespaces off.

    It starts with an empty repository, and SageMaker loads each target when it is asked for.
    """
    if endpoint.spec.mode is not Mode.MULTI_MODEL:
        return
    for index, flag in enumerate(endpoint.spec.container.additional_args):
        if flag.startswith(flags_of_single_mode()):
            message = f"`additional_args` has {flag}, with which a multi-model container does not work"
            hint = "leave it out; SageMaker loads each target when it is asked for"
            yield Problem(("container", "additional_args", index), message, hint)


@rule("FL243", source=SERVE)
def flags_left_to_the_start_script(endpoint: Decided) -> Iterator[Problem]:
    """Further flags do not say again what the container's start script says.

    The start script always loads one model by name, so that `--load-model=*`, which must be the only one,
    ends the server as well.
    """
    own = flags_of_the_start_script()
    if endpoint.spec.mode is Mode.SINGLE:
        for index, flag in enumerate(endpoint.spec.container.additional_args):
            name, _, value = flag.partition("=")
            path = ("container", "additional_args", index)
            if name in own:
                yield Problem(path, f"`additional_args` has {flag}: {own[name]}", "leave it out")
            elif name == "--load-model" and "*" in value:
                message = (
                    f"`additional_args` has {flag}: the start script"
                    " loads the default model by name beside it"
                )
                yield Problem(path, message, "name each further model, such as `--load-model=NAME`")


@rule("FL244", source=SERVE)
def flags_that_have_a_key(endpoint: Decided) -> Iterator[Problem]:
    """What has a key of its own in `container` is not given as a flag.

    The flag would be said twice, with two values.
    """
    for index, flag in enumerate(endpoint.spec.container.additional_args):
        variable = variable_of_flag().get(flag.partition("=")[0], "")
        key = variable.removeprefix(PREFIX).lower()
        if key in Container.model_fields:
            message = f"`additional_args` has {flag}, which `container` has a key for"
            yield Problem(
                ("container", "additional_args", index), message, f"write `{key}:` in `container` instead"
            )


@rule("FL210", source=SERVE)
def variable_of_the_mode(endpoint: Decided) -> Iterator[Problem]:
    """The container reads its settings in the endpoint's mode.

    A multi-model container has no inference type, for example: its calls are all of type `infer`.
    """
    mode, given = endpoint.spec.mode.value, endpoint.spec.container.model_fields_set
    set_here: dict[str, KeyPath] = {name: ("environment", name) for name in endpoint.spec.environment}
    set_here |= {f"{PREFIX}{key.upper()}": ("container", key) for key in sorted(given)}
    for name, path in set_here.items():
        about = variables().get(name)
        if (
            about is None
            or about.dead
            or mode in about.modes
            or about.set_by != "user"
            or name == DEFAULT_MODEL
        ):
            continue
        shown = f"`{path[-1]}`" if path[0] == "container" else name
        hint = f"leave it out, or write `mode: {about.modes[0]}`" if about.modes else "leave it out"
        yield Problem(path, f"{shown} means nothing to a {mode} endpoint", hint)


@rule(
    "FL265",
    Severity.WARNING,
    source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_runtime_InvokeEndpoint.html",
)
def body_that_sagemaker_passes(endpoint: Decided) -> Iterator[Problem]:
    """The server is not made ready for bodies that SageMaker does not pass on.

    InvokeEndpoint takes 6 MiB; Triton's front end takes 64 MiB without being asked to.
    """
    for index, flag in enumerate(endpoint.spec.container.additional_args):
        if flag.partition("=")[0] == BODY_FLAG:
            message = (
                f"`additional_args` has {flag}: SageMaker passes"
                " bodies of up to 6 MiB on, Triton takes 64 MiB"
            )
            yield Problem(
                ("container", "additional_args", index), message, "leave it out; send less at a time"
            )
