"""One image there and back: a request encoded and an answer of the same size decoded, with each codec.

`make bench NAME=codec`. Nothing is sent. Exits with 1 where binary+json is less than 30 times as fast as the
faster JSON, or slower than tritonclient: ratios of medians of one run, in which the codecs take turns.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import tritonclient.http
from short import is_short

from fleet_client import decode, encode

Array = npt.NDArray[Any]

triton: Any = tritonclient.http  # it has no types
IMAGE: Array = np.random.default_rng(0).standard_normal((1, 3, 224, 224), dtype=np.float32)
ROUNDS, TURNS = (2, 2) if is_short() else (40, 10)  # in each round JSON has one turn and binary data ten
FASTER_THAN_JSON, AS_FAST_AS_TRITONCLIENT = 30.0, 1.0
OUTPUT = {"name": "y", "datatype": "FP32", "shape": list(IMAGE.shape)}
JSON = "application/json"
BINARY = "application/vnd.sagemaker-triton.binary+json;json-header-size="


def main() -> int:
    """Measure, print, and compare with the bar."""
    seconds = _measured(_binary_codecs(), _json_codecs())
    medians = {name: statistics.median(each) for name, each in seconds.items()}
    ours = medians["fleet_client, binary+json"]
    print(f"1 x 3 x 224 x 224 FP32, {IMAGE.nbytes:,} bytes: encode a request and decode an answer")
    print(f"{'':<32}{'turns':>8}{'median ms':>12}{'best ms':>12}{'times ours':>12}")
    for name, median in sorted(medians.items(), key=lambda item: item[1]):
        best, turns = min(seconds[name]), len(seconds[name])
        print(f"{name:<32}{turns:>8}{1e3 * median:>12.3f}{1e3 * best:>12.3f}{median / ours:>12.1f}")
    by_json = min(medians["fleet_client, JSON"], medians["json and numpy by hand"]) / ours
    by_tritonclient = medians["tritonclient, binary+json"] / ours
    ratios = {"faster_json": round(by_json, 2), "tritonclient": round(by_tritonclient, 2)}
    print(json.dumps(ratios))
    if is_short():
        return 0
    return int(by_json < FASTER_THAN_JSON or by_tritonclient < AS_FAST_AS_TRITONCLIENT)


def _measured(
    binary: dict[str, Callable[[], Array]], listed: dict[str, Callable[[], Array]]
) -> dict[str, list[float]]:
    for name, codec in {**binary, **listed}.items():
        if not np.array_equal(codec(), IMAGE):
            raise AssertionError(f"{name} gives another image")
    seconds: dict[str, list[float]] = {name: [] for name in (*binary, *listed)}
    order = random.Random(0)  # noqa: S311 - whoever comes second finds the caches warm
    for _ in range(ROUNDS):
        for codecs in (listed, *[binary] * TURNS):
            for name, codec in order.sample([*codecs.items()], len(codecs)):
                start = time.perf_counter()
                codec()
                seconds[name].append(time.perf_counter() - start)
    return seconds


def _binary_codecs() -> dict[str, Callable[[], Array]]:
    described = {**OUTPUT, "parameters": {"binary_data_size": IMAGE.nbytes}}
    header = json.dumps({"model_name": "m", "model_version": "1", "outputs": [described]}).encode()
    answer, answered_as = header + IMAGE.tobytes(), f"{BINARY}{len(header)}"

    def ours() -> Array:
        encode({"x": IMAGE}, outputs=["y"])
        return decode(answer, answered_as)["y"]

    def ours_copied() -> Array:
        return ours().copy()

    def tritonclient() -> Array:
        tensor = triton.InferInput("x", list(IMAGE.shape), "FP32")
        tensor.set_data_from_numpy(IMAGE, binary_data=True)
        wanted = triton.InferRequestedOutput("y", binary_data=True)
        triton.InferenceServerClient.generate_request_body([tensor], outputs=[wanted])
        result = triton.InferenceServerClient.parse_response_body(answer, header_length=len(header))
        image: Array = result.as_numpy("y")
        return image

    return {
        "fleet_client, binary+json": ours,
        "fleet_client, and .copy()": ours_copied,
        "tritonclient, binary+json": tritonclient,
    }


def _json_codecs() -> dict[str, Callable[[], Array]]:
    described = {**OUTPUT, "data": IMAGE.ravel().tolist()}
    answer = json.dumps(
        {"model_name": "m", "model_version": "1", "outputs": [described]}, separators=(",", ":")
    )
    body = answer.encode()

    def ours() -> Array:
        encode({"x": IMAGE}, outputs=["y"], binary=False)
        return decode(body, JSON)["y"]

    def by_hand() -> Array:
        tensor = {"name": "x", "shape": IMAGE.shape, "datatype": "FP32", "data": IMAGE.ravel().tolist()}
        json.dumps({"inputs": [tensor], "outputs": [{"name": "y"}]}).encode()
        (output,) = json.loads(body)["outputs"]
        return np.array(output["data"], dtype=np.float32).reshape(output["shape"])

    return {"fleet_client, JSON": ours, "json and numpy by hand": by_hand}


if __name__ == "__main__":
    sys.exit(main())
