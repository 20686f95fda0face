"""What CDK's `custom_resources.Provider` does around a handler; its own function is Node.js and does not run.

Source: the README of aws-cdk-lib/custom-resources 2.275.0, and the framework's code, which it deploys.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from moto.awslambda.models import lambda_backends
from moto.stepfunctions.models import stepfunctions_backends

from fleet_emulator import process_state
from fleet_emulator.functions.backend import EmbeddedFunction
from fleet_emulator.functions.call import NotHostedError
from fleet_emulator.process_state import handed_over

_ON_EVENT, _IS_COMPLETE = "USER_ON_EVENT_FUNCTION_ARN", "USER_IS_COMPLETE_FUNCTION_ARN"
_WAITER = "WAITER_STATE_MACHINE_ARN"
_SECONDS_BETWEEN_LOOKS = 0.2
"""In place of the provider's query interval, which spares AWS's bill and nothing here."""


class RequestFailedError(Exception):
    """The resource answers FAILED; `physical_id` is what it answers with, empty when it never had one."""

    def __init__(self, reason: str, physical_id: str = "") -> None:
        self.physical_id = physical_id
        super().__init__(reason)


@dataclass(frozen=True, kw_only=True)
class Provider:
    """The handlers behind a framework's function."""

    on_event: EmbeddedFunction
    is_complete: EmbeddedFunction | None
    seconds: float

    @classmethod
    def behind(cls, framework: EmbeddedFunction) -> Provider | None:
        """The provider whose `onEvent` the function is; None where it is not a provider's."""
        environment = framework.environment_vars
        if _ON_EVENT not in environment:
            return None
        waits = _IS_COMPLETE in environment
        return cls(
            on_event=_function(framework, environment[_ON_EVENT]),
            is_complete=_function(framework, environment[_IS_COMPLETE]) if waits else None,
            seconds=_total_seconds(framework, environment[_WAITER]) if waits else 0,
        )

    def handle(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Handle a request of CloudFormation: its fields, with those of the answer.

        Raises:
            NotHostedError: the handler is not one that runs here, and was not called.
            RequestFailedError: a handler failed, or answered what it may not.
        """
        current = request.get("PhysicalResourceId", "")
        answer = _ask(self.on_event, request, current)
        physical_id = answer.get("PhysicalResourceId") or current or request["RequestId"]
        if not isinstance(physical_id, str):
            raise RequestFailedError("Invalid PhysicalResourceId", current)
        if request["RequestType"] == "Delete" and physical_id != current:
            problem = f'DELETE: cannot change the physical resource ID from "{current}" to "{physical_id}"'
            raise RequestFailedError(f"Error: {problem} during deletion", current)
        event = {**request, **answer, "PhysicalResourceId": physical_id}
        return event if self.is_complete is None else self._wait_for_completion(self.is_complete, event)

    def _wait_for_completion(self, is_complete: EmbeddedFunction, event: Mapping[str, Any]) -> dict[str, Any]:
        physical_id: str = event["PhysicalResourceId"]
        stopping, deadline = process_state.current().stopping, time.monotonic() + self.seconds
        while True:
            try:
                answer = _ask(is_complete, event, physical_id)
            except NotHostedError as error:
                raise RequestFailedError(f"Error: {error.message}", physical_id) from error
            data = answer.get("Data") or {}
            if answer.get("IsComplete"):
                return {**event, **answer, "Data": {**(event.get("Data") or {}), **data}}
            if data:
                problem = 'Error: "Data" is not allowed if "IsComplete" is "False"'
                raise RequestFailedError(problem, physical_id)
            if time.monotonic() >= deadline:
                raise RequestFailedError("Operation timed out", physical_id)
            with handed_over():
                stopped = stopping.wait(_SECONDS_BETWEEN_LOOKS)
            if stopped:
                raise RequestFailedError("The embedded AWS was stopped", physical_id)


def _ask(function: EmbeddedFunction, event: Mapping[str, Any], physical_id: str) -> dict[str, Any]:
    outcome = function.call(event)
    answer = json.loads(outcome.payload)
    if outcome.failed:
        message = answer["errorMessage"] or "error"
        raise RequestFailedError(f"Error: {message}\n\nLogs: {function.logs_group_name}\n", physical_id)
    if answer is None:
        return {}
    if not isinstance(answer, dict):
        problem = f'Error: return values from user-handlers must be JSON objects. got: "{outcome.payload}"'
        raise RequestFailedError(problem, physical_id)
    return answer


def _function(framework: EmbeddedFunction, arn: str) -> EmbeddedFunction:
    function = lambda_backends[framework.account_id][framework.region].get_function(arn)
    if not isinstance(function, EmbeddedFunction):
        raise NotHostedError(f"the function {arn} does not run here, as no stack has made it")
    return function


def _total_seconds(framework: EmbeddedFunction, waiter: str) -> float:
    """The provider's total time-out, which the CDK writes into its state machine as a number of attempts."""
    machine = stepfunctions_backends[framework.account_id][framework.region].describe_state_machine(waiter)
    definition = json.loads(machine.definition)
    [retry] = definition["States"][definition["StartAt"]]["Retry"]
    return float(retry["IntervalSeconds"] * retry["MaxAttempts"])
