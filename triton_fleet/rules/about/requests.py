"""Rules about the size of requests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from triton_fleet.context.models import ModelsContext
from triton_fleet.context.samples import CODE, oversize, request_bytes
from triton_fleet.rules.rule import MODELS, Problem
from triton_fleet.spec.source import KeyPath


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
        if found := oversize(request.name, request.size, is_least=request.is_least):
            problem = Problem(request.path, found.message, found.hint, found.certain)
            if found.certain:
                yield problem
            else:
                doubts.append((request.size, problem))
    if doubts:
        yield max(doubts, key=lambda doubt: doubt[0])[1]


def _requests(context: ModelsContext) -> Iterator[_Request]:
    for each in context.called:
        name, size = f"a request of model {each.name!r}", each.facts.item_bytes
        yield _Request(path=each.path, name=name, size=size, is_least=True)
    for index, sample in enumerate(context.samples):
        name, path = f"the request of sample {sample.name!r}", ("samples", index, "inputs")
        yield _Request(path=path, name=name, size=request_bytes(sample))
