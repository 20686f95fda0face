"""One Triton in multi-model mode, spoken to as SageMaker does: a hash path, and the target model as a header."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tritonclient.http
import tritonclient.utils

from tests.support.triton_models import post
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.local.triton.server import TritonServer
from triton_fleet.local.triton.staging import stage

ENVIRONMENT = {
    "SAGEMAKER_MULTI_MODEL": "true",
    "SAGEMAKER_TRITON_PING_MODE": "live",
    "SAGEMAKER_TRITON_OVERRIDE_PING_MODE": "live",
    "SAGEMAKER_TRITON_LOG_VERBOSE": "false",
}
BINARY = "application/vnd.sagemaker-triton.binary+json;json-header-size="
client: Any = tritonclient  # it has no types
Arrays = dict[str, np.ndarray[Any, Any]]


class ZooTriton:
    def __init__(self, runtime: TritonRuntime, folder: Path) -> None:
        self.folder = folder
        (folder / "empty").mkdir()
        self.server = TritonServer(runtime, folder / "empty", ENVIRONMENT, log=folder / "triton.log")
        self.server.start()
        self.server.wait_ready(60.0)

    def load(self, target: str, repository: Path) -> None:
        """Load an archive as it would be unpacked; its main model answers to the target's name."""
        model = self._hash(target)
        folder = self.folder / "ml" / "models" / model / "model"
        stage(repository, folder)
        body = json.dumps({"model_name": model, "url": str(folder)}).encode()
        self._ask("/models", target, body)

    def infer(
        self, target: str, inputs: Mapping[str, np.ndarray[Any, Any]], outputs: Sequence[str]
    ) -> Arrays:
        tensors = []
        for name, array in inputs.items():
            tensor = client.http.InferInput(name, array.shape, client.utils.np_to_triton_dtype(array.dtype))
            tensors.append(tensor.set_data_from_numpy(array))
        expected_outputs = [client.http.InferRequestedOutput(name, binary_data=True) for name in outputs]
        body, size = client.http.InferenceServerClient.generate_request_body(
            tensors, outputs=expected_outputs
        )
        path = f"/models/{self._hash(target)}/invoke"
        content_type, answer = self._ask(path, target, body, f"{BINARY}{size}")
        header = int(content_type.removeprefix(BINARY))
        result = client.http.InferenceServerClient.parse_response_body(answer, header_length=header)
        return {name: result.as_numpy(name) for name in outputs}

    def _hash(self, target: str) -> str:
        return f"hash-of-{target.removesuffix('.tar.gz')}"

    def _ask(
        self, path: str, target: str, body: bytes, content_type: str = "application/json"
    ) -> tuple[str, bytes]:
        headers = {"Content-Type": content_type, "X-Amzn-SageMaker-Target-Model": target}
        return post(self.server, body, path, headers)
