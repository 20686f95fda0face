"""Asks the three models of the local endpoint `shared-models`, as callers of one container do: by name.

The local fleet's URL and keys come from the environment that `fleet local env` prints, or from what
`fleet local up` has written down.
"""

from __future__ import annotations

import base64
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import boto3
import numpy as np
from PIL import Image, ImageDraw

from fleet_client import CLIENT_CONFIG, FleetClientError, Payload, TritonEndpoint

ENDPOINT = "shared-models"
TEXT = "The goal of life is [MASK]."


def main() -> int:
    try:
        show(TritonEndpoint(ENDPOINT, client=local_runtime()))
    except (FleetClientError, FileNotFoundError) as error:
        print(f"demo: {error}; run: fleet local up {ENDPOINT}", file=sys.stderr)
        return 2
    return 0


def show(endpoint: TritonEndpoint) -> None:
    img = base64.b64encode(drawn_picture()).decode()
    print("resnet      ", "   ".join(ask(endpoint, "resnet", {"img": img})))
    for number, score, x1, x2, y1, y2, *_ in ask(endpoint, "yolov5", {"img": img}):
        print(f"yolov5       class {number}, {score:.3f}, from {x1:.0f}, {y1:.0f} to {x2:.0f}, {y2:.0f}")
    for version in (1, 2):
        tensors = {"text": np.array([TEXT], dtype=np.object_)}
        result = endpoint.infer(tensors, model="bert_base", version=version)["result"]
        for best in json.loads(result[0])[:2]:
            print(f"bert_base {version}  {best['token']} ({best['score']:.3f})")


def ask(endpoint: TritonEndpoint, model: str, payload: dict[str, str]) -> Any:
    """The result of a call in the form of AWS's post, whose clients name the model in the body."""
    body = json.dumps({"modelname": model, "payload": payload}).encode()
    answer = endpoint.invoke(Payload(body, "application/json"))
    return json.loads(answer.body)["result"]


def drawn_picture() -> bytes:
    """A JPEG of two squares, red and blue, which the letterbox halves to 144 and 80 pixels."""
    picture = Image.new("RGB", (1280, 960), (128, 128, 128))
    draw = ImageDraw.Draw(picture)
    draw.rectangle((320, 320, 607, 607), fill=(255, 0, 0))
    draw.rectangle((800, 480, 959, 639), fill=(0, 0, 255))
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=95)
    return file.getvalue()


def local_runtime() -> Any:
    if "AWS_ENDPOINT_URL" in os.environ:
        return boto3.client("sagemaker-runtime", config=CLIENT_CONFIG)
    state = Path(__file__).parents[2] / ".fleet" / "local"
    supervisor, keys = (json.loads((state / name).read_text()) for name in ("supervisor.json", "keys.json"))
    return boto3.client(
        "sagemaker-runtime",
        endpoint_url=supervisor["url"],
        region_name=supervisor["region"],
        aws_access_key_id=keys["access_key_id"],
        aws_secret_access_key=keys["secret_access_key"],
        config=CLIENT_CONFIG,
    )


if __name__ == "__main__":
    sys.exit(main())
