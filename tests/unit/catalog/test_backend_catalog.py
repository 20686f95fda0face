"""The catalog's facts of Triton's backends fit together."""

from __future__ import annotations

import pytest

from triton_fleet.catalog.backends import Parameter, backend_facts, backends
from triton_fleet.catalog.images import releases
from triton_fleet.repository.backends import FILES, FORMATS, PLATFORMS

PARAMETERS = [
    (f"{backend.name}.{parameter.name}", parameter)
    for backend in backends().values()
    for parameter in [
        *backend.parameters.values(),
        *(
            parameter
            for accelerator in backend.accelerators.values()
            for of in accelerator.values()
            for parameter in of.parameters.values()
        ),
    ]
]


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS, ids=[name for name, _ in PARAMETERS])
def test_a_parameter_says_what_becomes_of_a_wrong_value(name: str, parameter: Parameter) -> None:
    is_checked = bool(parameter.values or parameter.number)
    assert bool(parameter.message) == (is_checked and parameter.fails), name
    if parameter.message:
        words = parameter.message.format(value="V", lower="v", key="K", model="M")
        assert "{" not in words
    if parameter.values and parameter.default:
        assert parameter.default in parameter.values
    assert parameter.minimum is None or parameter.maximum is None or parameter.minimum < parameter.maximum


@pytest.mark.parametrize(("name", "parameter"), PARAMETERS, ids=[name for name, _ in PARAMETERS])
def test_releases_of_a_parameter_are_written_like_those_of_images(name: str, parameter: Parameter) -> None:
    named_values = [
        parameter.since,
        parameter.until,
        parameter.bounded_since,
        *parameter.values_since.values(),
    ]
    for release in filter(None, named_values):
        assert len(release) == 5 and "22.05" < release < releases()[-1][:3] + "99", name
    assert not (parameter.since and parameter.until)


def test_what_came_in_a_parameters_place_is_read() -> None:
    for backend in backends().values():
        for parameter in backend.parameters.values():
            assert not parameter.instead or not backend.parameters[parameter.instead].until


def test_every_default_file_of_triton_is_known_to_its_backend() -> None:
    for name, backend in FILES.items():
        files = {file.name for item in backends().values() if item.backend == backend for file in item.files}
        assert name in files, backend
    assert {backend for backend in (PLATFORMS | FORMATS).values() if backend != "ensemble"} <= set(backends())


@pytest.mark.parametrize(
    ("backend", "platform", "runtime", "name"),
    [
        ("pytorch", "", "", "pytorch"),
        ("pytorch", "pytorch_libtorch", "libtriton_pytorch.so", "pytorch"),
        ("pytorch", "pytorch_libtorch", "model.py", "pytorch_python"),
        ("pytorch", "torch_aoti", "", "pytorch_aoti"),
        ("tensorflow", "tensorflow_savedmodel", "", "tensorflow"),
    ],
)
def test_platform_and_runtime_decide_what_a_backend_makes_of_a_model(
    backend: str, platform: str, runtime: str, name: str
) -> None:
    facts = backend_facts(backend, platform=platform, runtime=runtime)
    assert facts is not None
    assert facts.name == name


@pytest.mark.parametrize(
    ("backend", "runtime"), [("my_backend", ""), ("ensemble", ""), ("", ""), ("onnxruntime", "libmine.so")]
)
def test_of_somebodys_own_backend_or_runtime_nothing_is_known(backend: str, runtime: str) -> None:
    assert backend_facts(backend, runtime=runtime) is None
