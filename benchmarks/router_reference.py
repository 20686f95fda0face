"""The reference for the benchmark of the router: nginx, gunicorn and Flask, as AWS's post has them.

"Serve multiple models with Amazon SageMaker and Triton Inference Server": nginx passes each request through
a Unix socket to gunicorn, whose gevent workers, one for each core, run a Flask application. It decodes the
JSON, makes a client of Triton, asks whether the model is ready, asks the model, and encodes the answer.
Here is what it would do for a tensor, and a faster form, which keeps its client and does not ask whether
the model is ready.
"""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
from flask import Flask, Response, request
from tritonclient import http

CONNECTIONS = 64
TRITON = os.environ["TRITON"]
app = Flask(__name__)
_tritonclient: Any = http  # without types
_kept_client = _tritonclient.InferenceServerClient(TRITON, concurrency=CONNECTIONS)


@app.get("/ping")
def ping() -> Response:
    """Report that it runs, whatever Triton does."""
    return Response("\n", mimetype="application/json")


@app.post("/invocations")
def invoke() -> Response:
    """Ask the model that the body names, as the post's code does."""
    data = json.loads(request.data)
    client = _tritonclient.InferenceServerClient(TRITON)
    if not client.is_model_ready(data["modelname"], "1"):
        raise AssertionError(data["modelname"])
    return _answer(client, data)


@app.post("/invocations/kept")
def invoke_with_kept_client() -> Response:
    """Ask the model that the body names, with the client of earlier requests."""
    return _answer(_kept_client, json.loads(request.data))


def _answer(client: Any, data: dict[str, Any]) -> Response:
    given = data["payload"]["inputs"][0]
    values = np.array(given["data"], dtype=np.float32).reshape(given["shape"])
    tensor = _tritonclient.InferInput(given["name"], list(values.shape), given["datatype"])
    tensor.set_data_from_numpy(values)
    result = client.infer(data["modelname"], [tensor]).as_numpy("y").tolist()
    body = json.dumps({"modelname": data["modelname"], "result": result})
    return Response(body, mimetype="application/json")
