"""Triton's /models, as SageMaker calls it: by hash path, with the target's name as a header on every call.

Source: triton-inference-server/server, src/sagemaker_server.cc. A DELETE without that header would unload
nothing and hang for 350 s (tried with 24.10).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import urllib3

from fleet.local.containers import TARGET_MODEL, ModelRefusal
from fleet.local.triton.container import LOOPBACK

ALREADY_LOADED = 409
_SECONDS = 360.0
"""Triton itself gives up an unload after 350 s."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Triton's status, and its words where it refused."""

    status: int
    said: str


class ModelsApi:
    """Loads and unloads models of one run of Triton."""

    def __init__(self, port: int) -> None:
        self._url = f"http://{LOOPBACK}:{port}/models"
        self._pool = urllib3.PoolManager(retries=False, timeout=urllib3.Timeout(connect=2.0, read=_SECONDS))

    def load(self, name: str, target: str, folder: Path) -> Answer:
        """POST /models: register the unpacked archive, and load the target model from it.

        Raises:
            ModelRefusal: Triton gave no answer.
        """
        body = json.dumps({"model_name": name, "url": str(folder)}).encode()
        answer = self._ask("POST", self._url, target, body)
        if answer.status != ALREADY_LOADED:
            return answer
        # An earlier call was given up before Triton had answered it.
        self.unload(name, target)
        return self._ask("POST", self._url, target, body)

    def unload(self, name: str, target: str) -> Answer:
        """DELETE /models/NAME: returns when the model is gone.

        Raises:
            ModelRefusal: Triton gave no answer.
        """
        return self._ask("DELETE", f"{self._url}/{name}", target)

    def _ask(self, method: str, url: str, target: str, body: bytes | None = None) -> Answer:
        headers = {TARGET_MODEL: target, "Content-Type": "application/json"}
        try:
            answer = self._pool.request(method, url, body=body, headers=headers)
        except urllib3.exceptions.HTTPError as error:
            doing = "loaded" if method == "POST" else "unloaded"
            late = isinstance(error, urllib3.exceptions.ReadTimeoutError)
            what = f"gave no answer for {_SECONDS:g} s" if late else "ended"
            raise ModelRefusal(0, f"The container {what} while {target} was {doing}.") from error
        return Answer(status=answer.status, said=answer.data.decode("utf-8", "replace"))
