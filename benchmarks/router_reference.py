"""The reference for the benchmark of the router: nginx, gunicorn and Flask, as AWS's post has them.

"Serve multiple models with Amazon SageMaker and Triton Inference Server": nginx passes each request through
a Unix socket to gunicorn, whose gevent workers, one for each core, run a Flask application. It decodes the
JSON, makes a client of Triton, asks the model, and encodes the answer. BERT is asked by HTTP, after it was
asked whether it is ready; the two image models are asked by gRPC. Source: sm/predictor.py and
sm/*/inference.py of aws-samples/aws-sm-mmo.
"""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
from flask import Flask, Response, request
from tritonclient import grpc, http

CONNECTIONS = 64
TRITON = os.environ["TRITON"]
app = Flask(__name__)
_tritonclient: Any = http  # without types
_grpc: Any = grpc
_kept_client = _tritonclient.InferenceServerClient(TRITON, concurrency=CONNECTIONS)


@app.get("/ping")
def ping() -> Response:
    """Report that it runs, whatever Triton does."""
    return Response("\n", mimetype="application/json")


@app.post("/invocations")
def invoke() -> Response:
    """Ask the model that the body names, as the post's code asks BERT."""
    data = json.loads(request.data)
    client = _tritonclient.InferenceServerClient(TRITON)
    if not client.is_model_ready(data["modelname"], "1"):
        raise AssertionError(data["modelname"])
    return _answer(_tritonclient, client, data)


@app.post("/invocations/image")
def invoke_by_grpc() -> Response:
    """Ask the model that the body names, as the post asks ResNet; for YOLO it makes one more client."""
    return _answer(_grpc, _grpc.InferenceServerClient(os.environ["TRITON_GRPC"]), json.loads(request.data))


@app.post("/invocations/kept")
def invoke_with_kept_client() -> Response:
    """Ask the model that the body names, with the client of earlier requests."""
    return _answer(_tritonclient, _kept_client, json.loads(request.data))


def _answer(module: Any, client: Any, data: dict[str, Any]) -> Response:
    given = data["payload"]["inputs"][0]
    values = np.array(given["data"], dtype=np.float32).reshape(given["shape"])
    tensor = module.InferInput(given["name"], list(values.shape), given["datatype"])
    tensor.set_data_from_numpy(values)
    result = client.infer(data["modelname"], [tensor]).as_numpy("y").tolist()
    body = json.dumps({"modelname": data["modelname"], "result": result})
    return Response(body, mimetype="application/json")
