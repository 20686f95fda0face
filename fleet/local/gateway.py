"""SageMaker's runtime in front of the local endpoints: its URL, headers, limits and errors."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import urllib3
from werkzeug.wrappers import Request, Response

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

MAX_BODY = 6 * 1024 * 1024
"""Bytes of an InvokeEndpoint body; source: botocore, sagemaker-runtime BodyBlob."""
SECONDS_TO_ANSWER = 60.0
CALLS = 256
"""Invocations at a time; a further one waits."""
PASSED_ON = ("Content-Type", "Accept", "X-Amzn-SageMaker-Custom-Attributes")
PASSED_BACK = ("Content-Type", "X-Amzn-SageMaker-Custom-Attributes")
TIMED_OUT = (
    "Your invocation timed out while waiting for a response from container primary. Review the latency"
    " metrics for each container in Amazon CloudWatch, resolve the issue, and try again."
)
_PATH = re.compile(r"/endpoints/([^/]+)/invocations")


@dataclass(frozen=True, kw_only=True)
class Target:
    """Where an endpoint's container listens on loopback; `port` is None while it is being restarted."""

    port: int | None
    variant: str


class Gateway:
    """A WSGI application for `POST /endpoints/NAME/invocations`.

    What SageMaker answers, and how: source: botocore's service model of sagemaker-runtime (ModelError with
    OriginalStatusCode, OriginalMessage and LogStreamArn under HTTP 424) and the texts its users report.
    """

    def __init__(
        self,
        find: Callable[[str], Target | None],
        *,
        account: str,
        region: str,
        seconds_to_answer: float = SECONDS_TO_ANSWER,
    ) -> None:
        self._find = find
        self._account, self._region = account, region
        self._pool = urllib3.PoolManager(maxsize=CALLS, retries=False)
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
        if request.content_length > MAX_BODY:
            return _error(413, None, f"HTTP content length exceeded {MAX_BODY} bytes.")
        name = match[1]
        target = self._find(name)
        if target is None:
            problem = f"Endpoint {name} of account {self._account} not found."
            return _error(400, "ValidationError", problem)
        if target.port is None:
            return self._model_error(name, 0, "The container is being restarted.")
        return self._forward(request, name, target)

    def _forward(self, request: Request, name: str, target: Target) -> Response:
        headers = {key: request.headers[key] for key in PASSED_ON if key in request.headers}
        try:
            answer = self._ask(f"http://127.0.0.1:{target.port}/invocations", request.get_data(), headers)
        except (urllib3.exceptions.ReadTimeoutError, TimeoutError):
            return self._model_error(name, 0, TIMED_OUT)
        except urllib3.exceptions.HTTPError as error:
            return self._model_error(name, 0, f"The container broke the connection: {type(error).__name__}")
        if answer.status // 100 != 2:
            return self._model_error(name, answer.status, answer.data.decode("utf-8", "replace"))
        response = Response(answer.data)
        for key in PASSED_BACK:
            if key in answer.headers:
                response.headers[key] = answer.headers[key]
        response.headers["X-Amzn-Invoked-Production-Variant"] = target.variant
        return response

    def _ask(self, url: str, body: bytes, headers: dict[str, str]) -> urllib3.BaseHTTPResponse:
        """The whole answer within the limit; a worker asks, as urllib3's own time-out is one of each read."""
        timeout = urllib3.Timeout(connect=2.0, read=self._seconds_to_answer)
        asked = self._workers.submit(
            self._pool.request, "POST", url, body=body, headers=headers, timeout=timeout
        )
        return asked.result(self._seconds_to_answer)

    def _model_error(self, name: str, status: int, said: str) -> Response:
        kind = "client" if status // 100 == 4 else "server"
        group = f"/aws/sagemaker/Endpoints/{name}"
        message = (
            f'Received {kind} error ({status}) from primary with message "{said}". See the log group {group}'
            f" in account {self._account} for more information."
        )
        arn = f"arn:aws:logs:{self._region}:{self._account}:log-group:{group}"
        extra = {"OriginalStatusCode": status, "OriginalMessage": said, "LogStreamArn": arn}
        return _error(424, "ModelError", message, extra)


def _error(status: int, code: str | None, message: str, extra: dict[str, object] | None = None) -> Response:
    body = json.dumps({"message": message, "Message": message, **(extra or {})})
    response = Response(body, status=status, content_type="application/json")
    if code is not None:
        response.headers["x-amzn-ErrorType"] = code
    return response
