"""Rules about samples and the size of requests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from triton_fleet.catalog.limits import limit
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.models import ModelsContext
from triton_fleet.context.samples import (
    CODE,
    answered_targets,
    event_bytes,
    oversize,
    request_bytes,
    target_models,
)
from triton_fleet.findings import Severity
from triton_fleet.rules.about.models import INFERENCE_TYPE
from triton_fleet.rules.rule import MODELS, Problem, rule
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.problems import did_you_mean
from triton_fleet.spec.source import KeyPath

REST_OF_THE_EVENT = 8192
"""Bytes: the rest of the event, such as ARNs and the URL for the answer."""


@rule("FL326", source="docs/updates.md", is_needed=True)
def invalid_target(endpoint: EndpointContext) -> Iterator[Problem]:
    """Samples and `warm` name archives of a multi-model spec; in other modes they name none.

    A call of a multi-model endpoint names its target model; SageMaker refuses a target model for any other
    endpoint, and the deploy would fail in its last step.
    """
    spec = endpoint.spec
    targets: list[tuple[KeyPath, str | None]] = [
        *((("samples", index, "target"), sample.target) for index, sample in enumerate(spec.samples)),
        *((("warm", index), name) for index, name in enumerate(spec.warm)),
    ]
    models = target_models(spec)
    for path, name in targets:
        if spec.mode is not Mode.MULTI_MODEL and name is not None:
            message = f"{name!r} is named as a target, but mode `{spec.mode.value}` has none"
            is_warming = path[0] == "warm"
            hint = "leave it out: only a multi-model endpoint loads a model for a call"
            yield Problem(path, message, hint if is_warming else _without_target(endpoint, name))
        elif spec.mode is Mode.MULTI_MODEL and name is None:
            message = f"sample {spec.samples[int(path[1])].name!r} names no target; each archive is one"
            yield Problem(path[:2], message, f"write `target: {next(iter(models), 'ARCHIVE')}`")
        elif spec.mode is Mode.MULTI_MODEL and name not in models:
            copies = [
                sample.name for sample in spec.packed_archives if spec.models[sample.index].archive == name
            ]
            message = f"{name!r} has copies" if copies else f"no archive in `models` is named {name!r}"
            hint = f"write `{copies[0]}` or `{copies[-1]}`" if copies else did_you_mean(str(name), models)
            yield Problem(path, message, hint)


def _without_target(endpoint: EndpointContext, name: str) -> str:
    """The hint for a sample that has a target in a mode without target models."""
    if endpoint.spec.mode is not Mode.SHARED_CONTAINER:
        return "leave it out: the default model answers"
    routes = [*endpoint.routes]
    if name in routes or len(routes) == 1:
        return f"write `model: {name if name in routes else routes[0]}`"
    return f"write `model:` and one of {', '.join(routes)}" if routes else "write `model:` and a route"


@rule("FL860", Severity.WARNING, source="docs/dashboard.md")
def refused_warming(endpoint: EndpointContext) -> Iterator[Problem]:
    """Every archive in `warm` has a sample that expects an answer.

    Without one, the archive is loaded by a call that its model refuses. SageMaker counts that call as a
    failure of the model, so after a deploy graphs and alarms on errors show failures that no caller has seen.
    """
    answered_models, models = answered_targets(endpoint.spec), target_models(endpoint.spec)
    for index, name in enumerate(endpoint.spec.warm):
        if name in models and name not in answered_models and endpoint.spec.mode is Mode.MULTI_MODEL:
            message = (
                f"no sample expects an answer from {name!r}, so the call that loads it counts as a failure"
            )
            hint = f"add a sample with `target: {name}`, whose call loads it"
            yield Problem(("warm", index), message, hint)


@rule(
    "FL327",
    source="https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html",
    is_needed=True,
)
def oversized_sample(endpoint: EndpointContext) -> Iterator[Problem]:
    """Samples fit CloudFormation's event for the endpoint check.

    An update's event contains the old samples as well as the new ones. For each further poll, the CDK's
    framework throws the escaped event as an error, which contains it twice (message and trace), and Step
    Functions accepts 256 KiB.
    """
    spec = endpoint.spec
    if not (spec.samples or spec.warm):
        return
    fill = "name fewer, or write one value as `data`: it fills the whole shape"
    maximum = limit("custom_resource_event_bytes") - REST_OF_THE_EVENT
    if (size := event_bytes(spec)) > maximum:
        message = f"`samples` and `warm` take {size} bytes of an update's event, which has room for {maximum}"
        yield Problem(("samples",) if spec.samples else ("warm",), message, fill)


@rule("FL329", source="https://github.com/triton-inference-server/server/blob/main/src/sagemaker_server.cc")
def tensor_sample_for_generate(endpoint: EndpointContext) -> Iterator[Problem]:
    """Only an endpoint that accepts named tensors has samples.

    With `inference_type: generate` it accepts another body, and would refuse every sample.
    """
    kind = endpoint.settings.get(INFERENCE_TYPE, "")
    if endpoint.spec.samples and kind.startswith("generate"):
        message = "samples are sent as tensors, and the endpoint accepts the bodies of `generate`"
        yield Problem(("samples",), message, "leave out `samples` or `container.inference_type`")


@dataclass(frozen=True, kw_only=True)
class _Request:
    path: KeyPath
    name: str
    size: int
    is_least: bool = False


@MODELS.rule(
    CODE,
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/hosting-faqs.html",
    fields=("input",),
)
def oversized_request(context: ModelsContext) -> Iterator[Problem]:
    """A request fits into the body of a call: one with a single item of each model, and each sample's.

    SageMaker's hosting FAQs allow 25 MB, botocore's model of InvokeEndpoint 6 MiB; botocore does not enforce
    it. What is larger than both is an error. A size between them gets one warning for the endpoint, at its
    largest request.
    """
    doubts: list[tuple[int, Problem]] = []
    for request in _requests(context):
        if excess := oversize(request.name, request.size, is_least=request.is_least):
            problem = Problem(request.path, excess.message, excess.hint, excess.certain)
            if excess.certain:
                yield problem
            else:
                doubts.append((request.size, problem))
    if doubts:
        yield max(doubts, key=lambda doubt: doubt[0])[1]


def _requests(context: ModelsContext) -> Iterator[_Request]:
    for model in context.reachable_models:
        name, size = f"a request of model {model.name!r}", model.facts.item_bytes
        yield _Request(path=model.path, name=name, size=size, is_least=True)
    for index, sample in enumerate(context.samples):
        name, path = f"the request of sample {sample.name!r}", ("samples", index, "inputs")
        yield _Request(path=path, name=name, size=request_bytes(sample))
