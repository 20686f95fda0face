"""Triton's /models, as SageMaker calls it: by hash path, with the target's name as a header on every call.

Source: triton-inference-server/server, src/sagemaker_server.cc. A DELETE without that header would unload
nothing and hang for 350 s (tried with 24.10).
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from pathlib import Path

import urllib3

from triton_fleet.local.containers import TARGET_MODEL, ModelRefusal
from triton_fleet.local.triton.server import TritonServer

log = logging.getLogger("triton_fleet.local")

PATH = "/models"
ALREADY_LOADED = 409
SECONDS_TO_LOAD, SECONDS_TO_UNLOAD = 120.0, 60.0
"""As long as a single model may take to start here; and as long as the longest call that it waits for."""


@dataclass(frozen=True, kw_only=True)
class TritonReply:
    """Triton's status, and its words where it refused."""

    status: int
    message: str


class ModelsApi:
    """Loads and unloads models of one run of Triton; a run that gives no answer in time is ended.

    It would continue what it was doing, and the state of the model would be unknown; its supervisor starts
    another run, which has no models.
    """

    def __init__(self, server: TritonServer) -> None:
        self._server = server

    def load(self, name: str, target: str, folder: Path) -> TritonReply:
        """POST /models: register the unpacked archive, and load the target model from it.

        Raises:
            ModelRefusal: Triton gave no answer.
        """
        body = json.dumps({"model_name": name, "url": str(folder)}).encode()
        answer = self._ask("POST", PATH, target, SECONDS_TO_LOAD, body)
        if answer.status != ALREADY_LOADED:
            return answer
        self.unload(name, target)
        return self._ask("POST", PATH, target, SECONDS_TO_LOAD, body)

    def unload(self, name: str, target: str) -> None:
        """DELETE /models/NAME: returns when the model is gone.

        Raises:
            ModelRefusal: Triton gave no answer.
        """
        answer = self._ask("DELETE", f"{PATH}/{name}", target, SECONDS_TO_UNLOAD)
        if answer.status != 200:
            log.warning("unloading %s: Triton answered %d %s", target, answer.status, answer.message)

    def _ask(
        self, method: str, path: str, target: str, seconds: float, body: bytes | None = None
    ) -> TritonReply:
        headers = {TARGET_MODEL: target, "Content-Type": "application/json"}
        timeout = urllib3.Timeout(connect=2.0, read=seconds)
        doing = "loaded" if method == "POST" else "unloaded"
        try:
            answer = self._server.pool.request(method, path, body=body, headers=headers, timeout=timeout)
        except urllib3.exceptions.ReadTimeoutError as error:
            self._server.stop(grace=0.0)
            message = (
                f"The container gave no answer for {seconds:g} s while {target} was {doing}; it is restarted."
            )
            raise ModelRefusal(0, message) from error
        except urllib3.exceptions.HTTPError as error:
            raise ModelRefusal(0, f"The container ended while {target} was {doing}.") from error
        return TritonReply(status=answer.status, message=answer.data.decode("utf-8", "replace"))
