"""One endpoint, as an application calls it."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from fleet_client.codec import Payload, decode, encode
from fleet_client.codec.datatypes import Array
from fleet_client.errors import PayloadError, inference_error, is_worth_waiting

if TYPE_CHECKING:
    from mypy_boto3_sagemaker_runtime import SageMakerRuntimeClient

CLIENT_CONFIG = Config(read_timeout=70, retries={"total_max_attempts": 1})
"""SageMaker gives a model 60 s, so its own answer is seen; botocore's retries would multiply with ours."""
STREAM_CONFIG = CLIENT_CONFIG.merge(Config(read_timeout=490))
"""For `invoke_endpoint_with_response_stream`: SageMaker gives a model 480 s to send all parts."""
MAX_BODY_BYTES = 25 << 20
"""Of one call; source: SageMaker developer guide, hosting-faqs ("25 MB"). botocore's model has 6 MiB."""
MAX_TARGET = 1024
"""Characters of a TargetModel, which are printable ASCII; source: botocore, TargetModelHeader."""
PATIENCE = 360.0
"""Seconds; source: SageMaker developer guide, invoke-multi-model-endpoint: a load may take up to 360 s."""
_ROUTE, _VERSION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,254}"), re.compile(r"0|[1-9][0-9]{0,18}")
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 10.0  # seconds


class TritonEndpoint:
    """A Triton endpoint on SageMaker, or the same one served by `fleet local up`; threads may share it.

    `client` is a boto3 client of sagemaker-runtime with `CLIENT_CONFIG`; left out, one is made for `region`
    and `endpoint_url`, for which boto3 has its own defaults, AWS_ENDPOINT_URL among them.

    A call that is refused as the model is still being loaded, or as there are too many calls, is repeated
    after random, growing pauses of at most 10 s, for the last time when `patience` seconds have passed since
    it began (default 360; 0: it is never repeated). Nothing else is repeated: an inference may have effects.

    `pause` waits for the seconds it is given; where it returns true, as `threading.Event().wait` does once
    the event is set, the call ends with the refusal. `clock` returns seconds.

    Raises:
        ValueError: `client` is given together with what it has already.
    """

    def __init__(
        self,
        name: str,
        *,
        client: SageMakerRuntimeClient | None = None,
        region: str | None = None,
        endpoint_url: str | None = None,
        patience: float = PATIENCE,
        pause: Callable[[float], object] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if client is not None and (region is not None or endpoint_url is not None):
            raise ValueError("a client has its region and endpoint_url already: give either")
        self.name = name
        if client is None:
            client = boto3.client(
                "sagemaker-runtime", region_name=region, endpoint_url=endpoint_url, config=CLIENT_CONFIG
            )
        self._client = client
        self._patience, self._pause, self._clock = patience, pause, clock

    def infer(
        self,
        inputs: Mapping[str, Array],
        *,
        target: str | None = None,
        model: str | None = None,
        version: int | str | None = None,
        outputs: Sequence[str] = (),
        binary: bool = True,
    ) -> dict[str, Array]:
        """One inference: named arrays in, named arrays out, as by `encode` and `decode`.

        `target` is the archive of a multi-model endpoint (SageMaker's TargetModel); `model` is the route of a
        shared container, and `version` that of its model: left out, its default and the newest. `outputs`
        names the outputs to answer with; left out, all of them.

        Raises:
            PayloadError: the inputs cannot be sent; nothing was.
            InferenceError: the endpoint refused.
            AnswerError: what came back is not an answer of Triton.
            botocore.exceptions.BotoCoreError: the endpoint could not be reached.
        """
        payload = encode(inputs, outputs=outputs, binary=binary)
        answer = self.invoke(payload, target=target, model=model, version=version)
        return decode(answer.body, answer.content_type)

    def invoke(
        self,
        payload: Payload,
        *,
        target: str | None = None,
        model: str | None = None,
        version: int | str | None = None,
    ) -> Payload:
        """One invocation with a body of any kind; errors as of `infer`."""
        if len(payload.body) > MAX_BODY_BYTES:
            raise PayloadError(
                f"the request has {len(payload.body):,} bytes, and SageMaker takes {MAX_BODY_BYTES:,}: send"
                " smaller batches, or the URI of an S3 object that the model reads"
            )
        to_model = {} if target is None else {"TargetModel": _check_target(target)}
        if route := _attributes(model, version):
            to_model["CustomAttributes"] = route
        answer = self._call_with_retries(
            lambda: self._client.invoke_endpoint(
                EndpointName=self.name, ContentType=payload.content_type, Body=payload.body, **to_model
            )
        )
        return Payload(answer["Body"].read(), answer.get("ContentType", ""))

    def _call_with_retries(self, call: Callable[[], Any]) -> Any:
        deadline = self._clock() + self._patience
        longest = _FIRST_PAUSE
        while True:
            try:
                return call()
            except ClientError as error:
                remaining_seconds = deadline - self._clock()
                if remaining_seconds <= 0 or not is_worth_waiting(error):
                    raise inference_error(error) from error
                # Full jitter: callers that were refused together come back apart.
                if self._pause(min(random.uniform(0, longest), remaining_seconds)):  # noqa: S311 - no secret
                    raise inference_error(error) from error
            longest = min(2 * longest, _LONGEST_PAUSE)


def _attributes(model: str | None, version: int | str | None) -> str:
    """The CustomAttributes that the router of a shared container reads; empty for its defaults."""
    if model is not None and not _ROUTE.fullmatch(model):
        rule = "up to 255 letters, digits, dots, underscores and hyphens"
        raise PayloadError(f"the model {model!r} must be {rule}")
    if version is not None and not _VERSION.fullmatch(str(version)):
        raise PayloadError(f"the version {version!r} must be a whole number of up to 19 digits")
    attributes = {"model": model, "version": version}
    return ";".join(f"{key}={value}" for key, value in attributes.items() if value is not None)


def _check_target(target: str) -> str:
    printable = target.isascii() and target.isprintable()
    if not printable or not 1 <= len(target) <= MAX_TARGET or target.startswith(" "):
        rule = f"1 to {MAX_TARGET} printable ASCII characters, the first of them no blank"
        raise PayloadError(f"the target model {target!r} must be {rule}")
    return target
