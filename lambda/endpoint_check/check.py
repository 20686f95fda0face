"""The check itself: configuration, then targets, then samples."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from .answer import AnswerError, outputs_of
from .call import Reply, call
from .compare import difference, truncate
from .endpoint import require_in_service
from .errors import CheckError, PendingError
from .request import Request
from .sample import OK, Sample

PROBE_OUTPUT = "triton-fleet-warm"
PROBE_BODY = json.dumps({"inputs": [], "outputs": [{"name": PROBE_OUTPUT}]}).encode()
"""For an output that no model has: a model that is loaded refuses it by this name, before it looks at inputs.

A model that cannot be loaded is refused with the same status, and a message that does not name the output.
Source: triton-inference-server/core, src/infer_request.cc, Normalize; tried with Triton 24.10.
"""
MAX_CALL_SECONDS = 100.0
"""Seconds that one call and the comparison of 25 MB may take; with less time left, no further call begins."""
_HEAD_CHARACTERS, _TAIL_CHARACTERS = 150, 250
"""An excerpt of a model's message has its beginning, and its end, which has the cause."""
_FOLDER = re.compile(r"/opt/ml/models/[0-9a-f]+/model(::)?")
"""Where SageMaker puts a target model; Triton calls the parts of an ensemble by it."""
_LOAD_FAILURE = re.compile(r"\bload(ing)? failed|failed to load")


def check(request: Request, sagemaker: Any, runtime: Any, remaining_seconds: Callable[[], float]) -> str:
    """Check everything once, from the beginning: a target that an earlier try has loaded answers quickly.

    Returns:
        A summary of the check, as a sentence.

    Raises:
        PendingError: not everything could be called at the moment.
        CheckError: something is not as it has to be.
        ClientError: AWS does not let the endpoint be described.
    """
    require_in_service(sagemaker, request.endpoint, request.config)
    targets = [(f"target {name}", partial(_load_target, request, runtime, name)) for name in request.warm]
    samples = [(str(sample), partial(_run_sample, request, runtime, sample)) for sample in request.samples]
    steps = targets + samples
    for number, (purpose, step) in enumerate(steps):
        if remaining_seconds() < MAX_CALL_SECONDS:
            raise PendingError(f"calls done: {number} of {len(steps)}; next: {purpose}")
        step()
        print(f"Passed: {purpose}")
    return (
        f"Endpoint {request.endpoint} is in service with {request.config}; targets loaded:"
        f" {len(request.warm)}; samples passed: {len(request.samples)}."
    )


def _load_target(request: Request, runtime: Any, target: str) -> None:
    """Have the target loaded: a loaded model refuses the probe's output by its name."""
    purpose = f"Loading target {target} of endpoint {request.endpoint}"
    reply = call(
        runtime, request.endpoint, purpose, body=PROBE_BODY, content_type="application/json", target=target
    )
    if PROBE_OUTPUT not in reply.text:
        raise CheckError(
            f"Target {target} of endpoint {request.endpoint} cannot be loaded: it answers with status"
            f" {reply.status}: {_excerpt(reply)}.",
            _log_remedy(request),
        )


def _log_remedy(request: Request) -> str:
    return f"See the log group /aws/sagemaker/Endpoints/{request.endpoint}."


def _run_sample(request: Request, runtime: Any, sample: Sample) -> None:
    purpose = f"Endpoint {request.endpoint}, {sample}"
    body, content_type = sample.request()
    reply = call(
        runtime,
        request.endpoint,
        purpose,
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
        if _LOAD_FAILURE.search(reply.text):
            remedy = _log_remedy(request)
        raise CheckError(f"{purpose}: {problem}.", remedy)


def _wrong_status(sample: Sample, reply: Reply) -> str | None:
    if reply.status == sample.status:
        return None
    text = f": {_excerpt(reply)}" if reply.text else ""
    return f"the answer has status {reply.status}, expected {sample.status}{text}"


def _wrong_outputs(sample: Sample, reply: Reply) -> str | None:
    try:
        return difference(sample, outputs_of(reply.body, reply.content_type))
    except AnswerError as error:
        return f"the answer {truncate(error)}"


def _excerpt(reply: Reply) -> str:
    """The model's message without folders of SageMaker's; of a long one the beginning and the end."""
    text = _FOLDER.sub("", reply.text)
    if len(text) <= _HEAD_CHARACTERS + _TAIL_CHARACTERS:
        return text
    return f"{text[:_HEAD_CHARACTERS]} … {text[-_TAIL_CHARACTERS:]}"
