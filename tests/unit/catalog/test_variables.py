"""The catalog's variables of the container, as its start script and its server read them."""

from __future__ import annotations

import pytest

from triton_fleet.catalog.images import releases
from triton_fleet.catalog.variables import Variable, variables
from triton_fleet.spec.container import Container

PREFIX = "SAGEMAKER_TRITON_"
VARIABLES = list(variables().values())


def test_they_are_in_the_order_in_which_the_script_passes_them_on() -> None:
    options = [variable.option for variable in VARIABLES if variable.option]
    assert options[0] == "--model-namespacing="
    assert options[-1] == "--load-model="
    assert (
        options.index("--allow-grpc=")
        < options.index("--log-verbose=")
        < options.index("--model-load-gpu-limit=")
    )


def test_every_key_of_the_specs_container_is_one_of_them() -> None:
    keys = {f"{PREFIX}{key.upper()}" for key in Container.model_fields}
    assert keys <= set(variables())


def test_they_are_not_to_be_changed() -> None:
    with pytest.raises(TypeError):
        variables()["NEW"] = VARIABLES[0]  # type: ignore[index]


@pytest.mark.parametrize("name", ["BATCH_SIZE", "MAX_BATCH_DELAY", "MODEL_REPOSITORY"])
def test_what_nothing_reads_is_dead_and_says_what_to_do_instead(name: str) -> None:
    variable = variables()[f"{PREFIX}{name}"]
    assert variable.dead
    assert variable.trap
    assert (variable.option, variable.default) == (None, None)


def test_the_platform_alone_sets_the_mode_and_the_ports() -> None:
    assert {variable.name for variable in VARIABLES if variable.set_by == "platform"} == {
        "SAGEMAKER_MULTI_MODEL",
        "SAGEMAKER_BIND_TO_PORT",
        "SAGEMAKER_SAFE_PORT_RANGE",
    }


@pytest.mark.parametrize(
    ("name", "since", "until"),
    [
        ("LOG_VERBOSE", None, None),
        ("TENSORFLOW_VERSION", "22.09", "25.03"),
        ("MODEL_LOAD_GPU_LIMIT", "22.12", None),
        ("DISABLE_MODEL_NAMESPACING", "23.04", None),
        ("ADDITIONAL_ARGS", "23.07", None),
        ("ALLOW_METRICS", "23.07", None),
        ("PING_MODE", "23.07", None),
        ("INFERENCE_TYPE", "25.03", None),
    ],
)
def test_the_releases_that_read_a_variable(name: str, since: str | None, until: str | None) -> None:
    variable = variables()[f"{PREFIX}{name}"]
    assert (variable.since, variable.until) == (since, until)


@pytest.mark.parametrize("name", ["DEFAULT_MODEL_NAME", "INFERENCE_TYPE"])
def test_what_only_a_single_model_endpoint_reads(name: str) -> None:
    assert variables()[f"{PREFIX}{name}"].modes == ("single",)


def test_what_awss_copy_of_the_script_adds_is_uncertain() -> None:
    uncertain = {variable.name.removeprefix(PREFIX) for variable in VARIABLES if not variable.certain}
    assert uncertain == {
        "PUBLISH_METRICS_TO_CLOUDWATCH",
        "CLOUDWATCH_LOG_GROUP",
        "CLOUDWATCH_METRIC_NAMESPACE",
        "METRIC_NAMESPACE",
    }


@pytest.mark.parametrize(
    "name", ["OVERRIDE_PING_MODE", "DISABLE_MODEL_NAMESPACING", "LOG_VERBOSE", "ADDITIONAL_ARGS"]
)
def test_a_trap_is_told(name: str) -> None:
    assert len(variables()[f"{PREFIX}{name}"].trap) > 20


@pytest.mark.parametrize("variable", VARIABLES, ids=lambda item: item.name)
def test_a_default_is_a_value_that_the_variable_takes(variable: Variable) -> None:
    assert bool(variable.choices) == (variable.type == "choice")
    if variable.default is None:
        return
    if variable.type in ("int", "float"):
        assert (variable.minimum or 0) <= float(variable.default) <= (variable.maximum or float("inf"))
    elif variable.type == "choice":
        assert variable.default in variable.choices
    else:
        assert variable.type in ("bool", "log-level")
        assert variable.default in ("true", "false")


def test_limits_are_of_numbers_alone() -> None:
    for variable in VARIABLES:
        if variable.type not in ("int", "float", "log-level"):
            assert (variable.minimum, variable.maximum) == (None, None), variable.name


def test_a_release_is_named_as_the_images_are() -> None:
    years = {name[:2] for name in releases()}
    for variable in VARIABLES:
        for name in (variable.since, variable.until):
            assert name is None or (name[:2] in years and name[2] == "."), variable.name
