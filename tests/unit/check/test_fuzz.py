"""Any specs, environments and locks give findings of `fleet check` and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.fuzz_check import HANG, SEPARATOR, USUAL_ENVIRONMENT, USUAL_LOCK, USUAL_SPEC, one_input
from tests.support.fleet_folder import ROOT
from tests.support.many_specs import Document, environments, locks, specs
from triton_fleet.context.context import EndpointContext
from triton_fleet.findings import FindingsError
from triton_fleet.project.project import LoadedSpec
from triton_fleet.rules.example import SPEC, examples
from triton_fleet.rules.registry import rules
from triton_fleet.spec.endpoint import EndpointSpec
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.lock import Lock
from triton_fleet.spec.problems import validate
from triton_fleet.spec.source import Source

MANY = settings(
    deadline=None,
    max_examples=1000 if "FLEET_SLOW" in os.environ else 50,
    suppress_health_check=[HealthCheck.too_slow],
)


def document_bytes(document: Document) -> bytes:
    """As YAML, of which JSON is a part; without the escapes of which YAML knows other ones."""
    return json.dumps(document, ensure_ascii=False).replace("\x7f", "").encode("utf-8", "replace")


@st.composite
def fleets(draw: st.DrawFn) -> tuple[Document, Document, Document]:
    spec = draw(specs())
    return spec, draw(environments()), draw(locks(spec))


@MANY
@given(fleets())
def test_rules_find_and_never_break(fleet: tuple[Document, Document, Document]) -> None:
    one_input(SEPARATOR.join(map(document_bytes, fleet)))


def test_most_specs_that_are_tried_reach_the_rules() -> None:
    counts = Counter[bool]()

    @settings(deadline=None, max_examples=100, derandomize=True, database=None)
    @given(specs())
    def try_spec(spec: Document) -> None:
        try:
            validate(EndpointSpec, Source(Path("spec.yaml"), spec))
        except FindingsError:
            counts[False] += 1
        else:
            counts[True] += 1

    try_spec()
    assert counts[True] > counts[False]


@MANY
@given(st.binary(max_size=300))
def test_an_environment_of_any_bytes(content: bytes) -> None:
    one_input(SEPARATOR.join((USUAL_SPEC, USUAL_ENVIRONMENT + content)))


@MANY
@given(st.binary(max_size=300))
def test_a_lock_of_any_bytes(content: bytes) -> None:
    one_input(SEPARATOR.join((USUAL_SPEC, USUAL_ENVIRONMENT, USUAL_LOCK + content)))


@pytest.mark.parametrize(
    "key",
    [
        'environment: {SAGEMAKER_TRITON_SHM_DEFAULT_BYTE_SIZE: "NUMBER"}',
        'environment: {SAGEMAKER_TRITON_THREAD_COUNT: "NUMBER"}',
        "scaling: {min: 1, max: 2, invocations_per_instance: NUMBER}",
        "scaling: {min: NUMBER, max: 2, gpu_utilization: 50}",
        "scaling: {min: 1, max: 2, gpu_utilization: 50, scale_in: NUMBERs}",
        "rollout: {bake: NUMBERh}",
        "rollout: {strategy: linear, step: NUMBER%}",
        "rollout: {strategy: rolling, step: 0.NUMBER%}",
        "alarms: {latency_p50: NUMBERs, errors: NUMBER%}",
        "cloudformation: {EndpointConfig: {VolumeSizeInGB: NUMBER}}",
    ],
)
@pytest.mark.parametrize("number", ["9" * 400, "9" * 5000, f"{'0' * 310}1", f"{'0' * 322}9"])
def test_numbers_of_any_length(key: str, number: str) -> None:
    one_input(USUAL_SPEC + key.replace("NUMBER", number).encode())


@pytest.mark.parametrize(
    "facts",
    [
        "backend: onnxruntime, size: NUMBER",
        "backend: python, instances: [{count: 2147483647}]",
        "item_bytes: NUMBER",
        "max_batch_size: NUMBER",
        "instances: [{kind: KIND_GPU, gpus: [NUMBER, -1]}]",
        'backend: tensorrt, plans: {1/model.plan: "NUMBER.1"}',
        'backend: tensorrt, by_compute_capability: {x: a, "": b}',
    ],
)
@pytest.mark.parametrize("number", [str(2**63 - 1), "9" * 999, "9" * 5000])
def test_facts_of_any_size(facts: str, number: str) -> None:
    lock = (
        USUAL_LOCK.partition(b"models:")[0]
        + b"models: {embed: {"
        + facts.replace("NUMBER", number).encode()
        + b"}}"
    )
    one_input(SEPARATOR.join((USUAL_SPEC, USUAL_ENVIRONMENT, lock)))


def test_shapes_of_any_length() -> None:
    for shape in ("9" * 5000, "x".join("9" * 50), "9" * 10):
        engine = f'{{model: embed, onnx: m.onnx, shapes: {{i: ["1", "{shape}", "1"]}}}}'
        one_input(USUAL_SPEC.replace(b"../repository", f"../repository, engines: [{engine}]".encode()))


def test_services_at_one_port_are_told_however_many_they_are() -> None:
    ports = ("METRICS_PORT", "GRPC_PORT")
    lines = [f'  SAGEMAKER_TRITON_{port}: "8080"\n' for port in ports] + [
        "  SAGEMAKER_TRITON_ALLOW_GRPC: on\n"
    ]
    one_input(USUAL_SPEC + b"environment:\n" + "".join(lines).encode())


def test_an_environment_of_the_container_that_is_too_large_is_told() -> None:
    one_input(USUAL_SPEC + b"environment:\n" + b"".join(b"  V%d: %s\n" % (n, b"x" * 1000) for n in range(50)))


def test_findings_do_not_depend_on_the_order_of_sets() -> None:
    text = (
        "from triton_fleet.rules.example import examples\n"
        "from triton_fleet.rules.registry import rules\n"
        "from triton_fleet.rules.apply import rule_findings\n"
        "for code, each in examples().items():\n"
        "    for case in (each.wrong, each.right):\n"
        "        print(*rule_findings(case.context()), sep='\\n')\n"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", text],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
    assert outputs[0].count("FL") > len(examples())


def test_thousands_of_archives_are_judged_at_once() -> None:
    names = [f"a{number}" for number in range(5000)]
    facts = {"backend": "tensorrt", "steps": ["m"], "plans": {"1/model.plan": "10.9.0.34"}}
    archive = {"digest": f"sha256:{'a' * 64}", "size": 1, "models": {"m": facts, "n": {"item_bytes": 1}}}
    engine = {"model": "m", "onnx": "model.onnx"}
    models = [{"archive": name, "repository": "../repository", "engines": [engine]} for name in names]
    spec: dict[str, object] = {**SPEC, "mode": "multi-model", "models": models}
    source = Source(Path("spec.yaml"), spec)
    endpoint = EndpointContext(
        loaded_spec=LoadedSpec(validate(EndpointSpec, source), source),
        environment=Environment(environment="dev", account="111122223333", region="us-east-1"),
        lock=Lock.model_validate({"endpoint": "example", "archives": dict.fromkeys(names, archive)}),
    )
    for rule in rules().values():
        began = time.process_time()
        rule.findings(source, rule.scope.subjects(endpoint))
        assert time.process_time() - began < HANG, rule.code
