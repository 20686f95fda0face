"""Counting one invocation as SageMaker's metrics do.

Source: SageMaker developer guide, monitoring-cloudwatch.md: latencies are in microseconds, ModelLatency is
the container's time and OverheadLatency the rest; each error metric gets a 0 or a 1, so that its average is
a rate.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TYPE_CHECKING

import urllib3
from werkzeug.wrappers import Request, Response

from fleet_emulator.hosting import ACCOUNT, REGION, EndpointId
from triton_fleet.catalog.limits import guide_body_limit
from triton_fleet.context.metrics import container_log_group
from triton_fleet.local.containers import (
    SECONDS_TO_ANSWER,
    TARGET_MODEL,
    Container,
    LackOfMemory,
    ModelRefusal,
    Record,
    Refusal,
    Route,
)
from triton_fleet.local.triton.network import CALLS

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

_MICROSECONDS = 1e6


class Count:
    """Facts of one invocation so far; `status` is the caller's HTTP status, or the model's own."""

    def __init__(self) -> None:
        self.status = 200
        self.refused_by_model = False
        self.has_model_call = False
        self.model_seconds = 0.0

    @contextmanager
    def model(self) -> Iterator[None]:
        """Count the time meanwhile as the model's."""
        self.has_model_call, start = True, time.monotonic()
        try:
            yield
        finally:
            self.model_seconds += time.monotonic() - start

    def note_refusal(self, status: int) -> None:
        """The container answered with that status, or with 0 not at all."""
        self.status, self.refused_by_model = 500 if status == 0 else status, True


@contextmanager
def count_invocation(record: Record) -> Iterator[Count]:
    """Count one invocation when it is over; a defect of the gateway counts as its error."""
    count, start = Count(), time.monotonic()
    try:
        yield count
    except BaseException:
        count.status = 500
        raise
    finally:
        seconds = time.monotonic() - start
        record("invocations", 1.0)
        record("invocations_per_instance", 1.0)  # one instance serves locally
        record("errors_4xx", float(count.status // 100 == 4))
        record("errors_5xx", float(count.status // 100 == 5))
        record("model_errors", float(count.refused_by_model))
        if count.has_model_call:
            record("model_latency", count.model_seconds * _MICROSECONDS)
            record("overhead_latency", (seconds - count.model_seconds) * _MICROSECONDS)


MAX_BODY_BYTES = guide_body_limit().bytes
SHORTEST = 0.001
PASSED_ON = ("Content-Type", "Accept", "X-Amzn-SageMaker-Custom-Attributes")
PASSED_BACK = ("Content-Type", "X-Amzn-SageMaker-Custom-Attributes")
TIMED_OUT = (
    "Your invocation timed out while waiting for a response from container primary. Review the latency"
    " metrics for each container in Amazon CloudWatch, resolve the issue, and try again."
)
INFERENCE_ID, CHECK = "X-Amzn-SageMaker-Inference-Id", "triton-fleet-check"
"""What names a call, and how the check of a deploy names its own: lambda/endpoint_check/call.py."""
_PATH = re.compile(r"/endpoints/([^/]+)/invocations(-response-stream)?")
_NO_STREAMS = (
    "The local fleet does not stream answers, as its Triton has no `generate_stream`: deploy the endpoint to"
    " an account, and call it there."
)


class Gateway:
    """A WSGI application for `POST /endpoints/NAME/invocations`.

    What SageMaker answers, and how: source: botocore's service model of sagemaker-runtime (ModelError with
    OriginalStatusCode, OriginalMessage and LogStreamArn under HTTP 424) and the texts its users report.
    An endpoint is found in the account whose keys signed the request, and in the region that they signed.
    Invocations of an endpoint that exists are counted as SageMaker's metrics count them, except those of the
    check of a deploy: models refuse some of them on purpose, and a new fleet would begin with failures.
    """

    def __init__(
        self,
        open_call: Callable[[EndpointId], AbstractContextManager[Container | None]],
        *,
        seconds_to_answer: float = SECONDS_TO_ANSWER,
    ) -> None:
        self._open_call = open_call
        # As many invocations at a time; a further one waits.
        self._workers = ThreadPoolExecutor(CALLS, thread_name_prefix="invocation")
        self._seconds_to_answer = seconds_to_answer

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one invocation."""
        return self._answer(Request(environ))(environ, start_response)

    def _answer(self, request: Request) -> Response:
        match = _PATH.fullmatch(request.path)
        if request.method != "POST" or match is None:
            return _error(405, "MethodNotAllowedException", "an endpoint is invoked by POST")
        if request.content_length is None:
            return _error(411, None, "Content-Length is needed.")
        if request.content_length > MAX_BODY_BYTES:
            return _error(413, None, f"HTTP content length exceeded {MAX_BODY_BYTES} bytes.")
        name, stream = match.groups()
        if stream:
            return _error(400, "ValidationError", _NO_STREAMS)
        endpoint = EndpointId(account=request.environ[ACCOUNT], region=request.environ[REGION], name=name)
        with self._open_call(endpoint) as container:
            if container is None:
                problem = f"Endpoint {name} of account {endpoint.account} not found."
                return _error(400, "ValidationError", problem)
            return self._answer_from(request, endpoint, container)

    def _answer_from(self, request: Request, endpoint: EndpointId, container: Container) -> Response:
        is_check = request.headers.get(INFERENCE_ID) == CHECK
        with count_invocation(_discard if is_check else container.record) as count:
            try:
                response = self._invoke(request, container, count)
            except Refusal as refusal:
                count.status = refusal.status
                return _error(refusal.status, refusal.code, refusal.message)
            except ModelRefusal as refusal:
                count.note_refusal(refusal.status)
                return _model_error(endpoint, refusal.status, refusal.message)
        response.headers["X-Amzn-Invoked-Production-Variant"] = container.variant
        return response

    def _invoke(self, request: Request, container: Container, count: Count) -> Response:
        end = time.monotonic() + self._seconds_to_answer
        target, body = request.headers.get(TARGET_MODEL), request.get_data()
        headers = {key: request.headers[key] for key in PASSED_ON if key in request.headers}
        answer, since = self._forward(container, target, body, headers, end, count)
        lacks_memory = answer.status == LackOfMemory.STATUS
        if lacks_memory and container.make_room(target, end - time.monotonic(), since=since):
            answer, _ = self._forward(container, target, body, headers, end, count, is_retry=True)
        if answer.status // 100 != 2:
            raise ModelRefusal(answer.status, answer.data.decode("utf-8", "replace"))
        response = Response(answer.data)
        for key in PASSED_BACK:
            if key in answer.headers:
                response.headers[key] = answer.headers[key]
        return response

    def _forward(
        self,
        container: Container,
        target: str | None,
        body: bytes,
        headers: Mapping[str, str],
        end: float,
        count: Count,
        *,
        is_retry: bool = False,
    ) -> tuple[urllib3.BaseHTTPResponse, int]:
        """The container's answer, and how many evictions there had been when it was asked."""
        with container.route(target, end - time.monotonic(), is_retry=is_retry) as route:
            try:
                with count.model():
                    answer = self._ask(route, body, headers, max(end - time.monotonic(), SHORTEST))
                return answer, route.evictions
            except (urllib3.exceptions.ReadTimeoutError, TimeoutError) as error:
                raise ModelRefusal(0, TIMED_OUT) from error
            except urllib3.exceptions.HTTPError as error:
                message = f"The container broke the connection: {type(error).__name__}"
                raise ModelRefusal(0, message) from error

    def _ask(
        self, route: Route, body: bytes, headers: Mapping[str, str], seconds: float
    ) -> urllib3.BaseHTTPResponse:
        """The whole answer within the limit; a worker asks, as urllib3's own time-out is one of each read."""
        timeout = urllib3.Timeout(connect=2.0, read=seconds)
        ask = partial(route.pool.request, "POST", route.path, timeout=timeout)
        future = self._workers.submit(ask, body=body, headers={**headers, **route.headers})
        try:
            return future.result(seconds)
        finally:
            future.cancel()  # of no effect where it has begun


def _discard(_measure: str, _value: float) -> None:
    """Of a call that is not counted."""


def _model_error(endpoint: EndpointId, status: int, answer: str) -> Response:
    kind = "client" if status // 100 == 4 else "server"
    group = container_log_group(endpoint.name)
    message = (
        f'Received {kind} error ({status}) from primary with message "{answer}". See the log group'
        f" {group} in account {endpoint.account} for more information."
    )
    arn = f"arn:aws:logs:{endpoint.region}:{endpoint.account}:log-group:{group}"
    extra = {"OriginalStatusCode": status, "OriginalMessage": answer, "LogStreamArn": arn}
    return _error(424, "ModelError", message, extra)


def _error(status: int, code: str | None, message: str, extra: dict[str, object] | None = None) -> Response:
    body = json.dumps({"message": message, "Message": message, **(extra or {})})
    response = Response(body, status=status, content_type="application/json")
    if code is not None:
        response.headers["x-amzn-ErrorType"] = code
    return response
