"""Each prop of an endpoint takes a token, which is then in the template, or refuses it; no stand-in for one is left."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from aws_cdk import App, Aws, CfnParameter, Duration, Stack
from aws_cdk.assertions import Annotations, Match

from tests.synth.library.host import DATA, HOST_ENVIRONMENT, Host
from triton_endpoints import (
    Alarms,
    Capture,
    Container,
    EndpointSupport,
    FleetEnvironment,
    Input,
    Instance,
    Logs,
    Metrics,
    Output,
    Rollout,
    Sample,
    Scaling,
    Timeouts,
    TritonEndpoint,
    TritonImage,
    TritonModel,
)
from triton_endpoints.library import values
from triton_fleet.catalog.images import releases

INPUT = Input(datatype="BYTES", shape=[1], data=["a"])
OUTPUT = Output(datatype="INT32")
SAMPLE = Sample(name="first", inputs={"T": INPUT}, outputs={"O": OUTPUT})
SHARED_MODEL = TritonModel.shared_container(
    "s3://their-models/all/", routes={"text": "words"}, default_model="text", versions={"words": [1]}
)
ZOO = TritonModel.multi_model("s3://their-models/zoo/", archives=["a"])
SCALING = Scaling(min=1, max=40).scale_on_invocations(600)
SECTIONS: dict[str, Any] = {
    "instance": Instance(type="ml.g5.xlarge"),
    "model": TritonModel.single(DATA, default_model="embed"),
    "environment": FleetEnvironment(name="prod"),
    "scaling": SCALING,
    "rollout": Rollout(strategy="canary", canary="50%"),
    "alarms": Alarms(),
    "capture": Capture(sample="10%"),
    "container": Container(),
    "metrics": Metrics(),
    "logs": Logs(),
    "timeouts": Timeouts(),
    "samples": SAMPLE,
    "image": TritonImage.from_release(),
}
NEEDS: dict[str, dict[str, Any]] = {
    "rollout.step": {"rollout": Rollout(strategy="linear", step="20%")},
    "model.archives": {"model": ZOO},
    "alarms.at_capacity": {"scaling": SCALING},
    **{f"alarms.{name}": {"model": ZOO} for name in ("model_load", "loading_wait", "cache_hits")},
    "alarms.pending_requests": {"metrics": Metrics(triton_dimensions=["model", "version"])},
    "samples.target": {"model": ZOO},
    "samples.outputs.tolerance": {
        "samples": replace(SAMPLE, outputs={"O": Output(datatype="FP32", data=[1.5])})
    },
    "warm": {"model": ZOO},
    **{
        path: {"model": SHARED_MODEL}
        for path in ("model.routes", "model.versions", "samples.model", "samples.version")
    },
}
"""Further props without which a prop is refused whatever it is."""
RAW: dict[str, Callable[[str, float], object]] = {
    "scaling.targets": lambda text, number: {"invocations_per_instance": number},
    "scaling.schedules": lambda text, number: ({"name": "night", "at": "rate(12 hours)", "max": number},),
    "environment.engine_builds": lambda text, number: {"timeout": text},
    "model.routes": lambda text, number: {"text": text},
    "model.versions": lambda text, number: {"words": [number]},
    "cloudformation": lambda text, number: {"Model": {"PrimaryContainer.ContainerHostname": text}},
    "allow": lambda text, number: {"FL342": text},
}
"""Values of props whose keys are not of a class."""
ELSEWHERE = {
    "model.archives": "what an endpoint declares does not name its targets",
    "environment.allowed_roles": "rules alone read it",
    "environment.protected_tags": "rules alone read it",
    "allow": "rules alone read it",
}
"""Props whose values are in no template, and why."""
ENGINES = "model.engines"
"""They need a folder and its builds; test_engines.py has what of them the deploy cannot decide."""
REFUSALS = ("FL112", "FL616")
TEXT, NUMBER = "TextToken", "NumberToken"


@dataclass(frozen=True)
class Case:
    """A form that a prop may have: text, a number, a duration, or one of these in a list or a mapping."""

    path: str
    annotation: Any
    form: str

    def props(self, text: str, number: float) -> dict[str, Any]:
        """Props of an endpoint, with a token for this one."""
        token = (
            RAW[self.path](text, number)
            if self.path in RAW
            else dict(_tokens(self.annotation, text, number))[self.form]
        )
        needs = NEEDS.get(self.path, {})
        section, *names = self.path.split(".")
        if not names:
            return {**needs, section: token}
        new_section = _replace(needs.get(section, SECTIONS[section]), names, token)
        return {**needs, section: [new_section] if section == "samples" else new_section}


def _replace(section: Any, names: Sequence[str], token: object) -> Any:
    name, *inner_names = names
    if not inner_names:
        return replace(section, **{name: token})
    tensors = getattr(section, name).items()
    return replace(section, **{name: {key: _replace(tensor, inner_names, token) for key, tensor in tensors}})


def _tokens(annotation: Any, text: str, number: float) -> Iterator[tuple[str, object]]:
    """A token in each of the forms of a type; none for booleans, constructs and other objects."""
    for member in _members(annotation):
        origin = get_origin(member) or member
        if origin in (str, Literal):
            yield "text", text
        elif origin in (int, float):
            yield "number", number
        elif origin is Duration:
            yield "duration", Duration.seconds(number)
        elif origin in (Sequence, tuple):
            yield from (
                (f"list of {form}", [token]) for form, token in _tokens(get_args(member)[0], text, number)
            )
        elif origin is Mapping:
            keys, inner = get_args(member)
            key = "critical" if get_origin(keys) is Literal else "KEY"
            yield from ((f"mapping of {form}", {key: token}) for form, token in _tokens(inner, text, number))


def _members(annotation: Any) -> list[Any]:
    members = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    return [member for member in members if member is not NoneType]


def _classes(annotation: Any) -> list[Any]:
    """The classes of props of a type, also those of the items of a list or a mapping."""
    members = _members(annotation)
    items = [
        item for member in members if get_origin(member) in (Sequence, Mapping) for item in get_args(member)
    ]
    parts = [*members, *items]
    return [part for part in parts if isinstance(part, type) and is_dataclass(part)]


def cases(owner: Any = TritonEndpoint.__init__, prefix: str = "") -> Iterator[Case]:
    """Each form of each prop, by the annotations of the signature and of the classes of props."""
    for name, annotation in get_type_hints(owner).items():
        path = f"{prefix}{name}"
        if path in ("scope", "id", "return", ENGINES):
            continue
        if classes := _classes(annotation):
            for inner_class in classes:
                yield from cases(inner_class, f"{path}.")
        elif path in RAW:
            yield Case(path, annotation, "raw")
        else:
            yield from (Case(path, annotation, form) for form, _ in _tokens(annotation, "", 0))


@dataclass(frozen=True)
class Outcome:
    """The result of the synth of a case: a template, or errors."""

    errors: list[str]
    body: str


def outcomes(all_cases: Sequence[Case], folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[Case, Outcome]:
    """One synth of an endpoint for each case, each in a stack of its own."""
    monkeypatch.setenv("CDK_OUTDIR", str(folder))  # errors are annotations, and fail no other stack
    app = App()
    EndpointSupport(Stack(app, "Shared", env=HOST_ENVIRONMENT), "Support", environment="prod")
    for index, case in enumerate(all_cases):
        stack = Stack(app, f"Case{index}", env=HOST_ENVIRONMENT)
        text, number = CfnParameter(stack, TEXT), CfnParameter(stack, NUMBER, type="Number")
        props = case.props(text.value_as_string, number.value_as_number)
        if environment := props.pop("environment", None):
            if case.path != "environment.name":
                environment = replace(environment, name=f"env{index}")
            props["support"] = EndpointSupport(
                stack, "Support", environment=environment, engine_builds=False, image_builds=False
            )
        plain = {
            "endpoint_name": f"case{index}",
            "triton": "25.04",
            "environment": None if environment else "prod",
        }
        TritonEndpoint(
            stack,
            "Endpoint",
            **{**plain, "instance": SECTIONS["instance"], "model": SECTIONS["model"], **props},
        )
    assembly = app.synth()
    results = {}
    for index, case in enumerate(all_cases):
        artifact = assembly.get_stack_by_name(f"Case{index}")
        errors = [str(message.entry.data) for message in artifact.messages if message.level.name == "ERROR"]
        template = {**artifact.template, "Parameters": {}}
        results[case] = Outcome(errors, json.dumps(template))
    return results


def problems(case: Case, outcome: Outcome) -> list[str]:
    """Problems of an outcome: another refusal, a stand-in that is left, or a token that is lost."""
    if outcome.errors:
        name = case.path.replace("samples.", "samples[0].").partition(".inputs")[0].partition(".outputs")[0]
        return [
            error
            for error in outcome.errors
            if not any(f"{code} " in error for code in REFUSALS) or f"`{name}" not in error
        ]
    types = values._TYPES if case.path == "instance.type" else values._TYPES[1:]
    stand_ins = [
        "value-",
        "0" * 12,
        *values._ACCOUNTS,
        *types,
        *(releases()[-values.RUNS :] if case.path == "triton" else ()),
    ]
    broken_tokens = ["Token[", "${token", "e+289", "-18881"]
    remains = [word for word in (*stand_ins, *broken_tokens) if word in outcome.body]
    has_token = any(f'{{"Ref": "{name}"}}' in outcome.body for name in (TEXT, NUMBER))
    return remains if has_token is (case.path not in ELSEWHERE) else [*remains, f"the token: {has_token}"]


def check(all_cases: Sequence[Case], folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[Case, Outcome]:
    results = outcomes(all_cases, folder, monkeypatch)
    wrong_cases = {
        f"{case.path} as {case.form}": text
        for case, outcome in results.items()
        if (text := problems(case, outcome))
    }
    assert wrong_cases == {}
    return results


ALL_CASES = list(cases())
CASES_OF_TYPES = list(
    {(case.path.split(".")[0], str(case.annotation), case.form): case for case in ALL_CASES}.values()
)
"""One prop of each type, in each of its forms."""


def test_a_prop_of_each_type_takes_a_token_or_refuses_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(CASES_OF_TYPES, tmp_path, monkeypatch)


@pytest.mark.nightly
def test_every_prop_takes_a_token_or_refuses_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(ALL_CASES, tmp_path, monkeypatch)


def test_a_template_depends_on_no_stand_in_for_a_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number_cases = [
        case for case in CASES_OF_TYPES if "number" in case.form or case.path.startswith("scaling.")
    ]
    first = outcomes(number_cases, tmp_path / "first", monkeypatch)
    monkeypatch.setattr(values, "FIRST_NUMBER", 21)
    second = outcomes(number_cases, tmp_path / "second", monkeypatch)
    assert [case.path for case in number_cases if first[case] != second[case]] == []
    assert [case for case in number_cases if not first[case].errors]


def leaves(owner: Any = TritonEndpoint.__init__) -> Iterator[tuple[str, Any]]:
    for name, annotation in get_type_hints(owner).items():
        classes = _classes(annotation)
        for inner_class in classes:
            yield from leaves(inner_class)
        if not classes and name != "return":
            yield name, annotation


def test_a_prop_that_takes_no_token_is_a_boolean_or_an_object() -> None:
    """A new prop of another type is covered by its forms above, or is listed there with a value."""
    bare_values = (str, int, float, list, dict, object, Any)
    uncovered_names = {
        name
        for name, annotation in leaves()
        if not dict(_tokens(annotation, "", 0))
        for member in _members(annotation)
        if member in bare_values or any(item in bare_values for item in get_args(member))
    }
    assert uncovered_names <= {path.split(".")[-1] for path in RAW} | {"vpc_subnets"}


def text_of(stack: Stack, name: str) -> str:
    return CfnParameter(stack, name).value_as_string


def test_a_refusal_names_the_value_of_which_something_is_computed_and_no_other() -> None:
    host = Host(is_audited=False)
    host.support(environment=FleetEnvironment(name="prod", tags={"stack": Aws.STACK_NAME}))
    host.endpoint(
        endpoint_name=text_of(host.stack, "Name"),
        container_environment={"WORDS": text_of(host.stack, "Words")},
        instance=Instance(type=text_of(host.stack, "Type")),
        scaling=Scaling(min=1, max=4).scale_on_gpu_utilization(60),
    )
    (problem,) = host.problems()
    assert "FL616 the deploy decides `instance.type`, of which" in problem


def test_a_refusal_of_values_that_cannot_go_together_names_these() -> None:
    host = Host(is_audited=False)
    host.support()
    number = CfnParameter(host.stack, "Number", type="Number").value_as_number
    scaling = Scaling(min=number, max=1).scale_on_invocations(600)
    host.endpoint(endpoint_name=text_of(host.stack, "Name"), scaling=scaling)
    (problem,) = host.problems()
    assert "FL616 the deploy decides `scaling.min`, of which" in problem


def test_a_shell_that_the_deploy_could_open_is_refused() -> None:
    host = Host(is_audited=False)
    host.support()
    raw = {"EndpointConfig": {"ProductionVariants.0.EnableSSMAccess": text_of(host.stack, "Shell")}}
    host.endpoint(cloudformation=raw)
    (problem,) = host.problems()
    assert "FL563 ProductionVariants.0.EnableSSMAccess may be true" in problem


def test_values_of_the_environment_are_among_those_that_were_not_checked() -> None:
    host = Host(is_audited=False)
    environment = FleetEnvironment(name="prod", tags={"stack": Aws.STACK_NAME})
    host.endpoint(
        environment=None, support=host.support(environment=environment), endpoint_name=Aws.STACK_NAME
    )
    infos = Annotations.from_stack(host.stack).find_info("/Host/Embeddings", Match.any_value())
    (text,) = [str(info.entry.data) for info in infos if "not checked" in str(info.entry.data)]
    assert text.endswith(": environment.tags.stack, endpoint_name")
