"""One call of a function: in a thread of its own, with its time-out, and Lambda's words for what fails."""

from __future__ import annotations

import inspect
import json
import logging
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from botocore.config import Config
from moto.awslambda.exceptions import InvalidParameterValueException

from fleet_emulator.function_output import keep_lines
from fleet_emulator.process_state import ProcessState
from fleet_emulator.product import Keys, local_session

if TYPE_CHECKING:
    from boto3 import Session

log = logging.getLogger("fleet_emulator")

_CONVENTION = ("client", "environ")
_session_lock = threading.Lock()
"""A session is not for several threads at a time."""
_SINGLE_ATTEMPT = Config(retries={"total_max_attempts": 1})
"""For clients of functions: what leads back to this process fails for good, as when it stops."""


class NotHostedError(InvalidParameterValueException):
    """The function is not one that runs here."""


@dataclass(frozen=True, kw_only=True)
class Code:
    """A function's code, and its environment; `seconds` is the function's time-out."""

    name: str
    arn: str
    archive: bytes
    handler: str
    seconds: int
    account: str
    region: str
    environment: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Context:
    """The second argument of a handler: the part that our functions use."""

    aws_request_id: str
    function_name: str
    invoked_function_arn: str
    deadline: float

    def get_remaining_time_in_millis(self) -> int:
        """The rest of the function's time-out, by Lambda's name for it."""
        return max(0, round((self.deadline - time.monotonic()) * 1000))


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a call ended; `payload` is JSON: what the handler returned, or Lambda's description of an error."""

    payload: str
    is_failure: bool = False

    @classmethod
    def failure(cls, kind: str, message: str, trace: Sequence[str] = ()) -> Outcome:
        """A failed call, as Lambda describes it."""
        description = {"errorMessage": message, "errorType": kind, "stackTrace": list(trace)}
        return cls(payload=json.dumps(description), is_failure=True)


def call(code: Code, event: str, request_id: str, *, state: ProcessState, lines: list[str]) -> Outcome:
    """Call the function with an event of JSON; its output is added to `lines`.

    A call that outlasts its time-out is abandoned but cannot be ended: its thread keeps running.

    Raises:
        NotHostedError: its handler does not follow our convention, and was not called.
    """
    log.info("function %s starts, request %s", code.name, request_id)
    future: Future[Outcome] = Future()
    work = partial(_run, code, event, request_id, state)
    thread = threading.Thread(
        target=_settle, args=(future, code.name, work, lines), name=f"function-{code.name}", daemon=True
    )
    thread.start()
    thread.join(code.seconds)
    if not future.done():
        log.error("function %s timed out, request %s", code.name, request_id)
        return Outcome.failure("Sandbox.Timedout", f"Task timed out after {code.seconds:.2f} seconds")
    log.info("function %s ended, request %s", code.name, request_id)
    return future.result()


def _settle(future: Future[Outcome], name: str, work: Callable[[], Outcome], lines: list[str]) -> None:
    keep_lines(lines)
    try:
        future.set_result(work())
    except NotHostedError as error:
        future.set_exception(error)
    except BaseException as error:
        log.exception("function %s failed", name)
        trace = traceback.format_exception(error)
        lines.append("".join(trace))
        future.set_result(Outcome.failure(type(error).__name__, str(error), trace))


def _run(code: Code, event: str, request_id: str, state: ProcessState) -> Outcome:
    deadline = time.monotonic() + code.seconds
    module_name, _, name = code.handler.replace("/", ".").rpartition(".")
    try:
        module = state.functions.module(code.archive, module_name)
    except ImportError as error:
        problem = f"Unable to import module '{module_name}': {error}"
        return Outcome.failure("Runtime.ImportModuleError", problem)
    handler = getattr(module, name, None)
    if handler is None:
        problem = f"Handler '{name}' missing on module '{module_name}'"
        return Outcome.failure("Runtime.HandlerNotFound", problem)
    _check_convention(code, handler)
    context = Context(
        aws_request_id=request_id, function_name=code.name, invoked_function_arn=code.arn, deadline=deadline
    )
    client = partial(_make_client, code, state)
    answer = handler(json.loads(event), context, client=client, environ=_environment(code))
    try:
        return Outcome(payload=json.dumps(answer))
    except (TypeError, ValueError) as error:
        return Outcome.failure("Runtime.MarshalError", f"Unable to marshal response: {error}")


def _make_client(code: Code, state: ProcessState, service: str, **options: Any) -> Any:
    """A client that leads to the embedded AWS, into the function's account and region."""
    make: Any = _session(code.region, state.accounts.keys_of(code.account)).client
    with _session_lock:
        return make(service, **{"endpoint_url": state.url, "config": _SINGLE_ATTEMPT, **options})


@lru_cache(maxsize=4)
def _session(region: str, keys: Keys) -> Session:
    """One for many calls: each session reads botocore's description of a service again."""
    return local_session(region, keys)


def _check_convention(code: Code, handler: Callable[..., Any]) -> None:
    """Call nothing that makes its own clients: here those would lead to the user's real account."""
    missing_arguments = [name for name in _CONVENTION if name not in inspect.signature(handler).parameters]
    if missing_arguments:
        raise NotHostedError(
            f"the function {code.name} runs in this process only when its handler takes the keyword "
            f"arguments client and environ, and {code.handler} lacks {' and '.join(missing_arguments)}"
        )


def _environment(code: Code) -> dict[str, str]:
    reserved_variables = {"AWS_REGION": code.region, "AWS_LAMBDA_FUNCTION_NAME": code.name}
    return {**code.environment, **reserved_variables}
