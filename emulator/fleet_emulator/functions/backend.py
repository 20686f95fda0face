"""Lambda's settings of an account: how many functions may run at once, of which none are refused here."""

from __future__ import annotations

import json
from typing import cast

from moto.awslambda import urls
from moto.awslambda.models import LambdaBackend
from moto.awslambda.responses import LambdaResponse
from moto.awslambda.urls import url_bases

from fleet_emulator.service_urls import ServiceUrls

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
