"""CloudWatch Logs' API calls that moto does not know."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from moto.logs.responses import LogsResponse
from moto.logs.urls import url_bases

if TYPE_CHECKING:
    from fleet_emulator.logs.backend import EmbeddedLogs


__all__ = ["EmbeddedLogsResponse", "url_bases", "url_paths"]


class EmbeddedLogsResponse(LogsResponse):
    """Reads requests and writes answers; moto calls each method by the name of its API call."""

    def associate_kms_key(self) -> str:
        """AssociateKmsKey."""
        self._backend.encrypt(self._get_param("logGroupName"), self._get_param("kmsKeyId"))
        return ""

    def disassociate_kms_key(self) -> str:
        """DisassociateKmsKey."""
        self._backend.encrypt(self._get_param("logGroupName"), None)
        return ""

    def describe_query_definitions(self) -> str:
        """DescribeQueryDefinitions, by their names; all on one page."""
        prefix = self._get_param("queryDefinitionNamePrefix", "")
        found = [each for each in self._backend.definitions.values() if each.name.startswith(prefix)]
        answer = [
            {
                "queryLanguage": "CWLI",
                "queryDefinitionId": each.id,
                "name": each.name,
                "queryString": each.text,
                "lastModified": each.modified,
                "logGroupNames": list(each.groups),
            }
            for each in sorted(found, key=lambda each: each.name)
        ]
        return json.dumps({"queryDefinitions": answer})

    @property
    def _backend(self) -> EmbeddedLogs:
        return cast("EmbeddedLogs", self.logs_backend)


url_paths = {"{0}/$": EmbeddedLogsResponse.dispatch}
"""Where moto finds the API, as `url_bases`; the names are moto's."""
