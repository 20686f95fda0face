"""The check itself: configuration, then targets, then samples."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from .answer import AnswerError, outputs_of
from .call import Reply, call
from .compare import cut, difference
from .endpoint import see_in_service
from .errors import CheckError, NotYet
from .request import Request
from .sample import OK, Sample

MARK = "triton-fleet-warm"
ASKED = json.dumps({"inputs": [], "outputs": [{"name": MARK}]}).encode()
"""For an output that no model has: a model that is loaded refuses it by this name, before it looks at inputs.

A model that cannot be loaded is refused with the same status, and its name says nothing of the output.
Source: triton-inference-server/core, src/infer_request.cc, Normalize; tried with Triton 24.10.
"""
LONGEST = 100.0
"""Seconds that one call and the comparison of 25 MB may take; below that no further one is begun."""
_FIRST, _LAST = 150, 250
"""Characters of a model's own words that are told: the beginning, and the end, where the cause stands."""
_FOLDER = re.compile(r"/opt/ml/models/[0-9a-f]+/model(::)?")
"""Where SageMaker puts a target model; Triton calls the parts of an ensemble by it."""
_NOT_LOADED = re.compile(r"\bload(ing)? failed|failed to load")


def check(request: Request, sagemaker: Any, runtime: Any, seconds_left: Callable[[], float]) -> str:
    """Check everything once, from the beginning: what was loaded by an earlier try answers quickly.

    Returns:
        What was checked, as a sentence.

    Raises:
        NotYet: not everything could be called at the moment.
        CheckError: something is not as it has to be.
        ClientError: AWS does not let the endpoint be described.
    """
    see_in_service(sagemaker, request.endpoint, request.config)
    targets = [(f"target {each}", partial(_warm, request, runtime, each)) for each in request.warm]
    samples = [(str(each), partial(_try, request, runtime, each)) for each in request.samples]
    work = targets + samples
    for number, (what, do) in enumerate(work):
        if seconds_left() < LONGEST:
            raise NotYet(f"calls done: {number} of {len(work)}; next: {what}")
        do()
        print(f"Passed: {what}")
    return (
        f"Endpoint {request.endpoint} is in service with {request.config}; targets loaded:"
        f" {len(request.warm)}; samples passed: {len(request.samples)}."
    )


def _warm(request: Request, runtime: Any, target: str) -> None:
    """Have the target loaded; that it refuses an output which it does not have says that it is."""
    what = f"Loading target {target} of endpoint {request.endpoint}"
    reply = call(runtime, request.endpoint, what, body=ASKED, content_type="application/json", target=target)
    if MARK not in reply.said:
        raise CheckError(
            f"Target {target} of endpoint {request.endpoint} cannot be loaded: it answers with status"
            f" {reply.status}: {_words(reply)}.",
            _log_of(request),
        )


def _log_of(request: Request) -> str:
    return f"See the log group /aws/sagemaker/Endpoints/{request.endpoint}."


def _try(request: Request, runtime: Any, sample: Sample) -> None:
    what = f"Endpoint {request.endpoint}, {sample}"
    body, content_type = sample.request()
    reply = call(
        runtime,
        request.endpoint,
        what,
        body=body,
        content_type=content_type,
        target=sample.target,
        attributes=sample.attributes,
    )
    problem = _wrong_status(sample, reply) or (_wrong_outputs(sample, reply) if reply.status == OK else None)
    if problem:
        remedy = (
            "If the new model is right, change the sample in the spec, else fix the model; then deploy again."
        )
        if _NOT_LOADED.search(reply.said):
            remedy = _log_of(request)
        raise CheckError(f"{what}: {problem}.", remedy)


def _wrong_status(sample: Sample, reply: Reply) -> str | None:
    if reply.status == sample.status:
        return None
    said = f": {_words(reply)}" if reply.said else ""
    return f"the answer has status {reply.status}, expected {sample.status}{said}"


def _wrong_outputs(sample: Sample, reply: Reply) -> str | None:
    try:
        return difference(sample, outputs_of(reply.body, reply.content_type))
    except AnswerError as error:
        return f"the answer {cut(error)}"


def _words(reply: Reply) -> str:
    """What the model says, without folders of SageMaker's, and of long texts the beginning and the end."""
    said = _FOLDER.sub("", reply.said)
    return said if len(said) <= _FIRST + _LAST else f"{said[:_FIRST]} … {said[-_LAST:]}"
