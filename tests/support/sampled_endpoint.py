"""An endpoint that is a stand-in, for the endpoint check to look at and to call: AWS's shapes, no AWS."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from botocore.exceptions import ClientError

from endpoint_check.handler import handler, is_complete
from fleet_client.codec.datatypes import datatype_of, pack_strings

BINARY = "application/vnd.sagemaker-triton.binary+json;json-header-size="
SECONDS = "1800"
Arrays = dict[str, np.ndarray[Any, Any]]


def refusal(operation: str, code: str, message: str = "", **more: object) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": message}, **more}, operation)  # type: ignore[typeddict-item]


def model_error(status: int, message: str = "no") -> ClientError:
    """The container's own refusal, as SageMaker passes it on."""
    return refusal(
        "InvokeEndpoint", "ModelError", "Received error", OriginalStatusCode=status, OriginalMessage=message
    )


def unknown_output(_: str | None) -> Arrays:
    """The answer of every loaded model to the request that warms it; seen of Triton 24.10."""
    raise model_error(
        400, "{\"error\":\"unexpected inference output 'triton-fleet-warm' for model 'double'\"}"
    )


def answer(arrays: Arrays, datatypes: dict[str, str] | None = None) -> tuple[bytes, str]:
    """The body of an answer in Triton's binary format, and its content type."""
    raw, descriptions = [], []
    for name, array in arrays.items():
        datatype = (datatypes or {}).get(name) or datatype_of(array)
        data = pack_strings(array.ravel().tolist()) if datatype == "BYTES" else array.tobytes()
        raw.append(data)
        descriptions.append(
            {
                "name": name,
                "datatype": datatype,
                "shape": list(array.shape),
                "parameters": {"binary_data_size": len(data)},
            }
        )
    header = json.dumps({"model_name": "double", "outputs": descriptions}).encode()
    return b"".join((header, *raw)), f"{BINARY}{len(header)}"


@dataclass
class SampledEndpoint:
    """`describe` and `invoke` are what SageMaker does; each call of the check is kept."""

    status: str = "InService"
    config: str = "new"
    failure: str = ""
    pending_config: str = ""
    stack: str = "UPDATE_IN_PROGRESS"
    invoke: Callable[[str | None], Arrays | tuple[bytes, str]] = lambda target: {}
    remaining_seconds: float = 600.0
    calls: list[dict[str, Any]] = field(default_factory=list)
    configs: dict[str, Any] = field(default_factory=dict)

    def client(self, service: str, *, config: Any = None) -> Any:
        self.configs[service] = config
        return self

    def describe_endpoint(self, *, EndpointName: str) -> dict[str, Any]:
        if not self.status:
            message = f'Could not find endpoint "arn:aws:sagemaker:us-east-1:1:endpoint/{EndpointName}".'
            raise refusal("DescribeEndpoint", "ValidationException", message)
        failure = {"FailureReason": self.failure} if self.failure else {}
        pending_values = (
            {"PendingDeploymentSummary": {"EndpointConfigName": self.pending_config}}
            if self.pending_config
            else {}
        )
        return {"EndpointStatus": self.status, "EndpointConfigName": self.config, **failure, **pending_values}

    def describe_stacks(self, *, StackName: str) -> dict[str, Any]:
        assert StackName == "arn:aws:cloudformation:us-east-1:1:stack/fleet/1"
        return {"Stacks": [{"StackStatus": self.stack}]}

    def invoke_endpoint(self, **arguments: Any) -> dict[str, Any]:
        self.calls.append(arguments)
        given_result = self.invoke(arguments.get("TargetModel"))
        body, content_type = given_result if isinstance(given_result, tuple) else answer(given_result)
        return {"Body": io.BytesIO(body), "ContentType": content_type}

    def get_remaining_time_in_millis(self) -> int:
        return round(1000 * self.remaining_seconds)

    def event(self, *samples: dict[str, Any], kind: str = "Update", **properties: Any) -> dict[str, Any]:
        return {
            "RequestType": kind,
            **({} if kind == "Create" else {"PhysicalResourceId": "mine"}),
            "StackId": "arn:aws:cloudformation:us-east-1:1:stack/fleet/1",
            "LogicalResourceId": "Check",
            "ResourceProperties": {
                "EndpointName": "doubles",
                "EndpointConfigName": "new",
                "Samples": json.dumps(samples),
                "Warm": [],
                **properties,
            },
        }

    def begin_event(self, event: dict[str, Any]) -> dict[str, Any]:
        """The framework's event for `is_complete`: the request with the answer of `handler`."""
        return {**event, **handler(event, self, self.client, {"SECONDS": SECONDS})}

    def look_event(self, event: dict[str, Any]) -> dict[str, Any]:
        return is_complete(event, self, self.client, {"SECONDS": SECONDS})

    def check_event(self, *samples: dict[str, Any], **properties: Any) -> dict[str, Any]:
        """A whole check of one look."""
        return self.look_event(self.begin_event(self.event(*samples, **properties)))


def sample(outputs: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    tensor = {"datatype": "FP32", "shape": [1, 2], "data": [1, 2]}
    return {"name": "pair", "inputs": {"x": tensor}, "outputs": outputs or {}, **more}
