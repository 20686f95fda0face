"""Log groups that know their key, and saved queries; nothing is encrypted here, and no query runs."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from moto.logs.exceptions import ResourceNotFoundException
from moto.logs.models import LogsBackend
from moto.logs.responses import LogsResponse
from moto.logs.urls import url_bases

from fleet_emulator.service_urls import ServiceUrls


@dataclass(frozen=True, kw_only=True)
class QueryDefinition:
    """A saved query; `modified` in milliseconds of Unix time."""

    id: str
    name: str
    text: str
    groups: Sequence[str]
    modification_time: int


class EmbeddedLogs(LogsBackend):
    """One account's CloudWatch Logs in one region."""

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self.definitions: dict[str, QueryDefinition] = {}

    @property
    def _url_module(self) -> ServiceUrls:
        return ServiceUrls(url_bases, {"{0}/$": EmbeddedLogsResponse.dispatch})

    def encrypt(self, name: str, key: str | None) -> None:
        """Note which key encrypts a group, None for CloudWatch's own."""
        if name not in self.groups:
            raise ResourceNotFoundException()
        self.groups[name].kms_key_id = key

    def define(self, id: str, *, name: str, text: str, groups: Sequence[str]) -> None:
        """Save a query, or another one in the place of that id's."""
        milliseconds = int(time.time() * 1000)
        self.definitions[id] = QueryDefinition(
            id=id, name=name, text=text, groups=groups, modification_time=milliseconds
        )


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
        queries = [
            definition
            for definition in self._backend.definitions.values()
            if definition.name.startswith(prefix)
        ]
        answer = [
            {
                "queryLanguage": "CWLI",
                "queryDefinitionId": query.id,
                "name": query.name,
                "queryString": query.text,
                "lastModified": query.modification_time,
                "logGroupNames": list(query.groups),
            }
            for query in sorted(queries, key=lambda query: query.name)
        ]
        return json.dumps({"queryDefinitions": answer})

    @property
    def _backend(self) -> EmbeddedLogs:
        return cast(EmbeddedLogs, self.logs_backend)
