"""The objects of one job: its inputs and its outputs; a job has no other objects of the bucket."""

from __future__ import annotations

import sys
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError

from engine_request.bucket import Bucket
from engine_request.files import ONNX, PLAN, RECORD, REQUEST, SCRIPT
from engine_request.problems import REFUSAL, BuildError
from engine_request.request import EngineRequest

from .record import MAX_RECORD_BYTES

MAX_PLAN_BYTES = 32 << 30
"""A small machine of CodeBuild has 64 GB of disk."""


class Workspace:
    """A prefix of the bucket; methods raise ClientError or BotoCoreError where S3 refuses.

    Attributes:
        input: The address below which a job finds its inputs.
        output: The address below which SageMaker puts its outputs.
    """

    def __init__(self, bucket: Bucket, prefix: str, name: str) -> None:
        self._bucket, self._prefix = bucket, f"{prefix}{name}/"
        self.input, self.output = bucket.url(f"{self._prefix}input/"), bucket.url(f"{self._prefix}output")

    def fill(self, request: EngineRequest) -> None:
        """Write the inputs: the request, and copies of the ONNX model and the script."""
        inputs = f"{self._prefix}input/"
        self._bucket.write(f"{inputs}{REQUEST}", request.json().encode())
        self._bucket.copy(request.onnx, f"{inputs}{ONNX}")
        self._bucket.copy(request.script, f"{inputs}{SCRIPT}")

    def download(self, folder: Path) -> None:
        """Write the plan and its record to a folder.

        SageMaker adds folders of its own between the output's address and a file's name.

        Raises:
            BuildError: one is missing, or too large.
        """
        keys = {key.rpartition("/")[2]: key for key in self._bucket.keys(f"{self._prefix}output/")}
        for name, limit in ((RECORD, MAX_RECORD_BYTES), (PLAN, MAX_PLAN_BYTES)):
            head = self._bucket.head(keys[name]) if name in keys else None
            if head is None:
                raise BuildError(REFUSAL, f"the job left no {name} below {self.output}")
            if head.size > limit:
                raise BuildError(REFUSAL, f"{name} of the job has {head.size} bytes; the limit is {limit}")
            self._bucket.download(keys[name], folder / name)

    def clear(self) -> None:
        """Delete all of it; a refusal of S3 is printed, and the bucket's lifecycle deletes the rest later."""
        try:
            self._bucket.delete_prefix(self._prefix)
        except (ClientError, BotoCoreError) as error:
            print(f"{self._bucket.url(self._prefix)} is not deleted: {error}", file=sys.stderr)
