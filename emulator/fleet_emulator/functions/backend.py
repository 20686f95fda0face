"""Lambda functions that run as processes of this machine."""

from __future__ import annotations

import base64
import json
import zipfile
from collections.abc import Mapping
from io import BytesIO
from typing import Any, cast
from uuid import uuid4

from moto.awslambda import urls
from moto.awslambda.exceptions import InvalidParameterValueException
from moto.awslambda.models import LambdaBackend, LambdaFunction
from moto.awslambda.responses import LambdaResponse
from moto.awslambda.urls import url_bases

from fleet_emulator import process_state
from fleet_emulator.functions.call import Code, NotHostedError, Outcome, call
from fleet_emulator.process_state import handed_over
from fleet_emulator.service_urls import ServiceUrls

_AS_THEY_ARE = (
    "Architectures",
    "Description",
    "Environment",
    "EphemeralStorage",
    "Handler",
    "Layers",
    "MemorySize",
    "PackageType",
    "ReservedConcurrentExecutions",
    "Role",
    "Runtime",
    "Timeout",
    "VpcConfig",
)


class EmbeddedFunction(LambdaFunction):
    """A function as a stack declares it; `properties` are those of AWS::Lambda::Function."""

    def __init__(self, name: str, properties: Mapping[str, Any], *, account_id: str, region: str) -> None:
        spec = {key: properties[key] for key in _AS_THEY_ARE if key in properties}
        spec |= {"FunctionName": name, "Code": self._code(properties["Code"])}
        spec["Tags"] = {tag["Key"]: tag["Value"] for tag in properties.get("Tags", [])}
        try:
            super().__init__(account_id, spec, region, version="$LATEST")
        except ValueError as error:  # moto's, for a bucket that does not exist
            raise InvalidParameterValueException(str(error.args[-1])) from error
        self.logs_group_name = properties.get("LoggingConfig", {}).get("LogGroup", self.logs_group_name)
        if self.package_type == "Zip":
            _check_archive(self.code_bytes)

    def call(self, event: object) -> Outcome:
        """Call the function within one's turn, which others have meanwhile.

        Its output goes to the embedded AWS's log, and to its log group.

        Raises:
            NotHostedError: it is not written in Python, or not in the way that can run here.
        """
        if not str(self.run_time).startswith("python"):
            raise NotHostedError(
                f"the function {self.function_name} does not run here, which runs Python only: its runtime "
                f"is {self.run_time}"
            )
        code = Code(
            name=self.function_name,
            arn=self.function_arn,
            archive=self.code_bytes,
            handler=str(self.handler),
            seconds=self.timeout,
            account=self.account_id,
            region=self.region,
            environment=dict(self.environment_vars),
        )
        here, request_id = process_state.current(), str(uuid4())
        if here.stopping.is_set():
            return Outcome.failure("Sandbox.Failure", "The embedded AWS was stopped")
        lines: list[str] = []
        with handed_over():
            outcome = call(code, json.dumps(event), request_id, here=here, lines=lines)
        self.logs_backend.ensure_log_group(self.logs_group_name)
        self.save_logs("\n".join([f"START RequestId: {request_id}", *lines, f"END RequestId: {request_id}"]))
        return outcome

    def invoke(
        self, body: str, request_headers: Mapping[str, str], response_headers: dict[str, str]
    ) -> bytes:
        """Invoke, as Lambda's API does; an asynchronous call is over when it is answered, too."""
        if request_headers.get("X-Amz-Invocation-Type") == "DryRun":
            return b""
        outcome = self.call(json.loads(body) if body else {})
        if outcome.failed:
            response_headers["x-amz-function-error"] = "Unhandled"
        return outcome.payload.encode()

    @classmethod
    def _code(cls, code: Mapping[str, Any]) -> dict[str, Any]:
        """A copy, as moto notes in it what it made of it; inline code is text in a template."""
        if "ZipFile" not in code:
            return dict(code)
        archive = cls._create_zipfile_from_plaintext_code(code["ZipFile"])
        return {"ZipFile": base64.b64encode(archive).decode()}


def _check_archive(content: bytes) -> None:
    if not content:  # moto's, for an object that does not exist
        raise InvalidParameterValueException(
            "Error occurred while GetObject. S3 Error Code: NoSuchKey. "
            "S3 Error Message: The specified key does not exist."
        )
    if not zipfile.is_zipfile(BytesIO(content)):
        raise InvalidParameterValueException(
            "Could not unzip uploaded file. Please check your file, then try to upload again."
        )


DEFAULT_CONCURRENT_EXECUTIONS = 1000
"""The quota of an account that is not new. Source: Lambda developer guide, gettingstarted-limits.html."""


class EmbeddedLambda(LambdaBackend):
    """One account's Lambda in one region; `concurrent_executions` is what the account may run at once."""

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self.concurrent_executions = DEFAULT_CONCURRENT_EXECUTIONS

    @property
    def _url_module(self) -> ServiceUrls:
        return ServiceUrls(
            url_bases,
            {
                **urls.url_paths,
                r"{0}/(?P<api_version>[^/]+)/account-settings/?$": EmbeddedLambdaResponse.dispatch,
            },
        )

    def account_settings(self) -> dict[str, dict[str, int]]:
        """GetAccountSettings. Source of the sizes: Lambda developer guide, gettingstarted-limits.html."""
        functions = list(self.list_functions())
        reserved = sum(int(function.reserved_concurrency or 0) for function in functions)
        return {
            "AccountLimit": {
                "TotalCodeSize": 75 * 1024**3,
                "CodeSizeUnzipped": 250 * 1024**2,
                "CodeSizeZipped": 50 * 1024**2,
                "ConcurrentExecutions": self.concurrent_executions,
                "UnreservedConcurrentExecutions": self.concurrent_executions - reserved,
            },
            "AccountUsage": {
                "TotalCodeSize": sum(int(function.code_size) for function in functions),
                "FunctionCount": len(functions),
            },
        }


class EmbeddedLambdaResponse(LambdaResponse):
    """Reads requests and writes answers; moto calls each method by the name of its API call."""

    def get_account_settings(self) -> str:
        """GetAccountSettings."""
        return json.dumps(cast(EmbeddedLambda, self.backend).account_settings())
