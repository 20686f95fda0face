"""Lambda's API calls that moto does not know."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from moto.awslambda import urls
from moto.awslambda.responses import LambdaResponse
from moto.awslambda.urls import url_bases

if TYPE_CHECKING:
    from fleet_emulator.functions.backend import EmbeddedLambda

__all__ = ["EmbeddedLambdaResponse", "url_bases", "url_paths"]


class EmbeddedLambdaResponse(LambdaResponse):
    """Reads requests and writes answers; moto calls each method by the name of its API call."""

    def get_account_settings(self) -> str:
        """GetAccountSettings."""
        return json.dumps(cast("EmbeddedLambda", self.backend).account_settings())


url_paths = {
    **urls.url_paths,
    r"{0}/(?P<api_version>[^/]+)/account-settings/?$": EmbeddedLambdaResponse.dispatch,
}
"""Where moto finds the API, as `url_bases`; the names are moto's."""
