"""Rules about the container's environment."""

from __future__ import annotations

import re
from collections.abc import Iterator

from triton_fleet.catalog.limits import limit
from triton_fleet.catalog.variables import Variable, flags, variables
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.shared_container import OWN_PREFIX
from triton_fleet.context.variables import PREFIX, PUBLISH_METRICS, TRUE, set_by_spec
from triton_fleet.findings import Severity
from triton_fleet.rules.about.security import redact
from triton_fleet.rules.rule import Problem, rule
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.problems import did_you_mean
from triton_fleet.spec.source import KeyPath

SERVE = "https://github.com/triton-inference-server/server/blob/main/docker/sagemaker/serve"
CONTAINER_API = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ContainerDefinition.html"
NAMESPACING = f"{PREFIX}DISABLE_MODEL_NAMESPACING"
PING = (f"{PREFIX}PING_MODE", f"{PREFIX}OVERRIDE_PING_MODE")
USUAL_PING = "ready"
FALSE = ("false", "off", "0")


@rule("FL207", source=SERVE)
def variable_with_own_key(endpoint: EndpointContext) -> Iterator[Problem]:
    """`environment` sets no variable that another key of the spec sets."""
    settings = {**endpoint.decided_settings, **endpoint.decided_variables}
    for path, name, _ in _environment_entries(endpoint):
        if name in settings:
            setting = settings[name]
            hint = f"leave it out, or change `{setting.key}`, which sets it to {setting.value!r} now"
            yield Problem(
                path, f"`environment` sets {name}, which another key of the spec already sets", hint
            )
        elif name.startswith(OWN_PREFIX) and endpoint.spec.mode is Mode.SHARED_CONTAINER:
            message = f"`environment` sets {name}, whose prefix is reserved for the container's own variables"
            yield Problem(path, message, "leave it out: keys of the spec set them")


@rule(
    "FL233", source="https://docs.aws.amazon.com/sagemaker/latest/dg/build-multi-model-build-container.html"
)
def platform_variable(endpoint: EndpointContext) -> Iterator[Problem]:
    """`environment` sets no variable that SageMaker sets itself."""
    for path, name, _ in _environment_entries(endpoint):
        if name in variables() and variables()[name].set_by == "platform":
            hint = "choose `mode` instead" if name == "SAGEMAKER_MULTI_MODEL" else "leave it out"
            yield Problem(path, f"`environment` sets {name}, which SageMaker sets itself", hint)


@rule("FL234", source=SERVE)
def empty_variable(endpoint: EndpointContext) -> Iterator[Problem]:
    """No variable is empty.

    The start script treats an empty value as unset, the server treats it as a value, and then no call works.
    """
    for path, name, value in _environment_entries(endpoint):
        if not value.strip():
            message = f"`environment` sets {name} to an empty value: the server uses the empty value"
            yield Problem(path, message, "leave it out")


@rule("FL235", source=SERVE)
def variable_with_white_space(endpoint: EndpointContext) -> Iterator[Problem]:
    """The container's own settings contain no white space.

    The start script does not quote the values, so the text after a space becomes another option of
    tritonserver. Options have their own key: `container.additional_args`.
    """
    for path, name, value in _environment_entries(endpoint):
        if name.startswith(PREFIX) and value.strip() and value.split() != [value]:
            message = (
                f"`environment` sets {name} with white space in"
                f" {redact(name, value)}: the container would split it into flags"
            )
            flags = " ".join(part for part in value.split() if part.startswith("--"))
            hint = f"write {flags} in `container.additional_args`" if flags else "leave the space out"
            yield Problem(path, message, hint)


@rule("FL236", source=SERVE)
def unread_variable(endpoint: EndpointContext) -> Iterator[Problem]:
    """The container reads the variable.

    Unknown names that begin with SAGEMAKER_TRITON_ are typing errors, or were copied from an example that
    never worked.
    """
    by_name = variables()
    for path, name, value in _environment_entries(endpoint):
        if not name.startswith(PREFIX):
            continue
        if name in by_name and by_name[name].dead:
            message = f"nothing in the container reads {name}: {redact(name, value)} has no effect"
            yield Problem(
                path, message, f"leave it out; {by_name[name].trap}" if by_name[name].trap else "leave it out"
            )
        elif name not in by_name:
            hint = _variable_hint(name)
            message = f"{name} is not a variable of the container"
            yield Problem(path, message, hint, certain="did you mean" in hint)


def _variable_hint(name: str) -> str:
    """The variable that was meant by an unknown one, unless it is called like an option of tritonserver."""
    own_name = name.removeprefix(PREFIX)
    option = f"--{own_name.lower().replace('_', '-')}"
    if option in flags():
        return f"leave it out: tritonserver has {option}, which only `container.additional_args` can set"
    live_names = [candidate for candidate, about in variables().items() if not about.dead]
    names = [candidate for candidate in live_names if candidate.startswith(PREFIX)]
    # All names begin alike: whole ones would be alike whatever follows.
    hint = did_you_mean(own_name, [candidate.removeprefix(PREFIX) for candidate in names])
    return hint.replace("`", f"`{PREFIX}", 1) if "did you mean" in hint else did_you_mean("", names)


@rule("FL237", source=SERVE)
def malformed_variable(endpoint: EndpointContext) -> Iterator[Problem]:
    """Tritonserver accepts the value.

    With any other value the server exits at startup, and the endpoint fails its health check.
    """
    for path, name, value in _environment_entries(endpoint):
        about = variables().get(name)
        if about is not None and not about.dead and value.split() == [value]:
            expected_value = _expected_value(about, value)
            if expected_value:
                message = f"{name} is {redact(name, value)}; the container accepts {expected_value}"
                yield Problem(path, message, f"write {expected_value}")


@rule("FL238", source=SERVE)
def variable_of_other_release(endpoint: EndpointContext) -> Iterator[Problem]:
    """The Triton release reads the variable."""
    release = endpoint.spec.triton
    published_by_image = endpoint.spec.mode is not Mode.SHARED_CONTAINER
    if (
        published_by_image
        and endpoint.spec.metrics.triton
        and release < (variables()[PUBLISH_METRICS].since or "")
    ):
        message = f"`metrics.triton` has no effect with Triton {release}, whose image publishes no metrics"
        is_given = "metrics" in endpoint.source.data
        yield Problem(("metrics", "triton"), message, "write `metrics: {triton: false}`", certain=is_given)
    for name, path in set_by_spec(endpoint.spec).items():
        about = variables().get(name)
        if about is None or about.dead:
            continue
        key_text = f"`{path[1]}`" if path[0] == "container" else name
        if about.since and release < about.since:
            hint = f'leave it out, or write `triton: "{about.since}"` or newer'
            yield Problem(path, f"{key_text} has no effect with Triton {release}", hint, about.certain)
        value = endpoint.settings.get(name, "")
        if value in about.values_until and release >= about.values_until[value]:
            message = f"{key_text} is {value!r}, which was removed in {about.values_until[value]}"
            yield Problem(path, message, "leave it out, or use an older release", about.certain)
        if about.until and release >= about.until:
            message = f"{key_text} has no effect with Triton {release}: it was removed in {about.until}"
            yield Problem(
                path, message, f"leave it out, or use a release before {about.until}", about.certain
            )


@rule("FL239", source=SERVE)
def inverted_namespacing(endpoint: EndpointContext) -> Iterator[Problem]:
    """DISABLE_MODEL_NAMESPACING is at most set to `false`, and never on a multi-model endpoint.

    Its value is passed to --model-namespacing, so it does the opposite of what its name means. A multi-model
    endpoint needs namespaces, because two archives may contain models of the same name.
    """
    value = endpoint.spec.environment.get(NAMESPACING, "").lower()
    path = ("environment", NAMESPACING)
    if value in TRUE:
        message = f"{NAMESPACING}={value} keeps namespaces on: its name means the opposite of what it does"
        yield Problem(path, message, "leave it out: they are on by default; `false` turns them off")
    if value in FALSE and endpoint.spec.mode is Mode.MULTI_MODEL:
        message = (
            f"{NAMESPACING}={value} turns namespaces off (its name means the opposite): two archives with a"
            " model of the same name could not both be loaded"
        )
        yield Problem(path, message, "leave it out")


@rule("FL240", source=SERVE)
def conflicting_ping_mode(endpoint: EndpointContext) -> Iterator[Problem]:
    """PING_MODE and OVERRIDE_PING_MODE are set together, or not at all.

    The start script copies OVERRIDE_PING_MODE into PING_MODE without exporting it, so only a PING_MODE that
    is already set changes. Alone, neither variable has an effect.
    """
    names = [name for name in PING if name in endpoint.spec.environment]
    if len(names) == 1 and endpoint.spec.mode is Mode.SINGLE:
        (second,) = (name for name in PING if name not in names)
        value = endpoint.spec.environment[names[0]]
        if value == USUAL_PING:
            return
        yield Problem(
            ("environment", names[0]), f"{names[0]} has no effect by itself", f"set {second}: {value} as well"
        )


@rule("FL209", source=CONTAINER_API)
def oversized_environment(endpoint: EndpointContext) -> Iterator[Problem]:
    """The container's variables are within SageMaker's limits on number and length."""
    entries, characters = limit("environment_entries"), limit("environment_value_characters")
    for name, value in endpoint.variables.items():
        if max(len(name), len(value)) > characters:
            key: KeyPath = ("environment", name) if name in endpoint.spec.environment else ("container",)
            message = f"the variable {name[:80]} is longer than SageMaker's {characters} characters"
            yield Problem(key, message, "shorten its name or its value")
    if len(endpoint.variables) > entries:
        message = f"the container gets {len(endpoint.variables)} variables; SageMaker accepts {entries}"
        yield Problem(("environment",), message, "remove some")
    total = sum(len(f"{name}{value}".encode()) for name, value in endpoint.variables.items())
    if total > limit("environment_bytes"):
        message = (
            f"the container's variables take {total} bytes; SageMaker accepts {limit('environment_bytes')}"
        )
        yield Problem(("environment",), message, "remove some")


@rule(
    "FL266", Severity.WARNING, source="https://docs.aws.amazon.com/sagemaker/latest/dg/cloudwatch-logs.html"
)
def verbose_log(endpoint: EndpointContext) -> Iterator[Problem]:
    """Verbose logging is off.

    It writes several lines for each call, and CloudWatch Logs is billed by the gigabyte.
    """
    if endpoint.spec.container.log_verbose:
        message = "`log_verbose` writes several lines to CloudWatch Logs for each call"
        yield Problem(("container", "log_verbose"), message, "turn it on only to investigate a fault")


def _environment_entries(endpoint: EndpointContext) -> Iterator[tuple[KeyPath, str, str]]:
    """The entries of `environment`: path, name and value."""
    for name, value in endpoint.spec.environment.items():
        yield ("environment", name), name, value


def _expected_value(about: Variable, value: str) -> str:
    """The values that a variable accepts, if the value is not among them; else empty."""
    match about.type:
        case "bool":
            return "" if value.lower() in TRUE + FALSE else "`true` or `false`"
        case "choice":
            return "" if value in about.choices else " or ".join(f"`{choice}`" for choice in about.choices)
        case "log-level":
            return "" if value.isdecimal() or value.lower() in TRUE + FALSE else "`true`, `false` or a number"
        case "int" | "float":
            kind = "a whole number" if about.type == "int" else "a number"
            lower = "" if about.minimum is None else f" from {about.minimum:.15g}"
            upper = "" if about.maximum is None else f" up to {about.maximum:.15g}"
            return "" if _in_range(about, value) else f"{kind}{lower}{upper}"
    return ""


def _in_range(about: Variable, value: str) -> bool:
    number = re.fullmatch(r"-?\d+" if about.type == "int" else r"-?(\d+(\.\d*)?|\.\d+)", value)
    if number is None:
        return False
    below = about.minimum is not None and float(value) < about.minimum
    return not below and not (about.maximum is not None and float(value) > about.maximum)
