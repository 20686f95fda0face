"""CloudWatch Logs' API calls that moto does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from moto.logs.responses import LogsResponse

if TYPE_CHECKING:
    from fleet.local.aws.logs.backend import EmbeddedLogs


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

    @property
    def _backend(self) -> EmbeddedLogs:
        return cast("EmbeddedLogs", self.logs_backend)
