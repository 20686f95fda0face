"""Asks the deployed endpoint for the embeddings of three sentences, by JSON and by binary+json.

Everything here is what an application does: boto3 and the name of the endpoint. The local URL and keys come
from the environment that `fleet local env` prints, or from what `fleet local up` has written down.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import boto3
import numpy as np
import numpy.typing as npt
from tritonclient.http import InferenceServerClient, InferInput, InferRequestedOutput

ENDPOINT = "sentence-embeddings"
SENTENCES = [
    "A woman is playing the violin.",
    "Somebody makes music on a string instrument.",
    "The invoice is due at the end of the month.",
]
BINARY = "application/vnd.sagemaker-triton.binary+json;json-header-size="
Embeddings = npt.NDArray[np.float32]


def main() -> None:
    runtime = local_runtime()
    by_json, by_binary = ask_by_json(runtime), ask_by_binary(runtime)
    for index, sentence in enumerate(SENTENCES, start=1):
        print(f"{index}  {sentence}")
    show("JSON", by_json)
    show("binary+json", by_binary)


def ask_by_json(runtime: Any) -> Embeddings:
    tensor = {"name": "INPUT0", "shape": [len(SENTENCES), 1], "datatype": "BYTES", "data": SENTENCES}
    answer = runtime.invoke_endpoint(
        EndpointName=ENDPOINT, ContentType="application/json", Body=json.dumps({"inputs": [tensor]})
    )
    (output,) = json.loads(answer["Body"].read())["outputs"]
    return np.array(output["data"], dtype=np.float32).reshape(output["shape"])


def ask_by_binary(runtime: Any) -> Embeddings:
    tensor = InferInput("INPUT0", [len(SENTENCES), 1], "BYTES")
    tensor.set_data_from_numpy(np.array(SENTENCES, dtype=object).reshape(-1, 1), binary_data=True)
    output = InferRequestedOutput("finaloutput", binary_data=True)
    body, header_length = InferenceServerClient.generate_request_body([tensor], outputs=[output])
    answer = runtime.invoke_endpoint(EndpointName=ENDPOINT, ContentType=f"{BINARY}{header_length}", Body=body)
    header = int(answer["ContentType"].removeprefix(BINARY))
    result = InferenceServerClient.parse_response_body(answer["Body"].read(), header_length=header)
    embeddings: Embeddings = result.as_numpy("finaloutput")
    return embeddings


def show(payload: str, embeddings: Embeddings) -> None:
    """Print the cosine similarity of each pair; the embeddings have length 1."""
    similarity = embeddings @ embeddings.T
    pairs = [(0, 1), (0, 2), (1, 2)]
    text = "   ".join(f"{a + 1}-{b + 1} {similarity[a, b]:+.4f}" for a, b in pairs)
    print(f"{payload:<12} cosine similarities   {text}")


def local_runtime() -> Any:
    if "AWS_ENDPOINT_URL" in os.environ:
        return boto3.client("sagemaker-runtime")
    state = Path(__file__).parents[2] / ".fleet" / "local"
    supervisor, keys = (json.loads((state / name).read_text()) for name in ("supervisor.json", "keys.json"))
    return boto3.client(
        "sagemaker-runtime",
        endpoint_url=supervisor["url"],
        region_name=supervisor["region"],
        aws_access_key_id=keys["access_key_id"],
        aws_secret_access_key=keys["secret_access_key"],
    )


if __name__ == "__main__":
    main()
