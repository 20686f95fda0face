"""500 different config.pbtxt checked in one process, and the same parsed by protobuf alone.

`make bench NAME=repository`. Models of five kinds, of two to forty tensors, a fifth of them with a mistake.
Medians of rounds in which both take turns; imports are measured apart, once. Exits with 1 where 500
configurations take 3 s or more, imports included.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from short import is_short

COUNT, ROUNDS = (20, 1) if is_short() else (500, 7)
SECONDS = 3.0
LICENCE = "".join(
    f"# line {number} of a licence, as many configurations begin with one\n" for number in range(26)
)
KINDS = (
    'backend: "python"\n',
    'platform: "onnxruntime_onnx"\n',
    'platform: "tensorrt_plan"\ninstance_group [ { kind: KIND_GPU count: 2 } ]\n',
    'backend: "pytorch"\nparameters { key: "INFERENCE_MODE" value { string_value: "true" } }\n',
    'backend: "identity"\nversion_policy { latest { num_versions: 2 } }\n',
)
TENSOR = """\
{field} [
  {{
    name: "{field}_{each}__{each}"
    data_type: TYPE_FP32
    dims: [ {each}, -1 ]
  }}
]
"""
MISTAKES = (
    "dynamic_batching { preferred_batch_size: [ 64 ] }\n",
    "instance_group { kind: KIND_CPU gpus: 0 }\n",
)


def main() -> int:
    """Measure, print, and compare with the bar."""
    began = time.perf_counter()
    from google.protobuf import text_format
    from tritonclient.grpc import model_config_pb2

    from triton_fleet.repository.config.judge import config_findings
    from triton_fleet.repository.config.message import parsed_config

    imports = time.perf_counter() - began
    texts = list(_texts())

    def parse() -> int:
        for text in texts:
            text_format.Parse(text, model_config_pb2.ModelConfig())  # type: ignore[attr-defined]
        return 0

    def check() -> int:
        return sum(
            len(list(config_findings(parsed_config(text.encode(), Path("config.pbtxt")), "25.04")))
            for text in texts
        )

    seconds = _measured({"protobuf alone": parse, "checked": check})
    medians = {name: statistics.median(each) for name, each in seconds.items()}
    size = sum(map(len, texts))
    print(f"{COUNT} configurations, {size:,} bytes, {check()} findings; imports {imports:.2f} s")
    print(f"{'':<18}{'median s':>10}{'best s':>10}{'times protobuf':>16}")
    for name, median in medians.items():
        print(
            f"{name:<18}{median:>10.3f}{min(seconds[name]):>10.3f}{median / medians['protobuf alone']:>16.2f}"
        )
    whole = imports + medians["checked"]
    ratio = round(medians["checked"] / medians["protobuf alone"], 2)
    print(json.dumps({"times_protobuf": ratio, "seconds_with_imports": round(whole, 2)}))
    return int(whole >= SECONDS and not is_short())


def _measured(ways: dict[str, Callable[[], int]]) -> dict[str, list[float]]:
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            began = time.perf_counter()
            way()
            seconds[name].append(time.perf_counter() - began)
    return seconds


def _texts() -> Iterator[str]:
    for number in range(COUNT):
        kind = KINDS[number % len(KINDS)]
        tensors = "".join(
            TENSOR.format(field=field, each=each)
            for field in ("input", "output")
            for each in range(1, 2 + number % 20)
        )
        mistake = MISTAKES[number % 2] if number % 5 == 4 else ""
        head = LICENCE if number % 3 == 0 else ""
        yield f'{head}name: "model_{number}"\n{kind}max_batch_size: 16\n{tensors}{mistake}'


if __name__ == "__main__":
    sys.exit(main())
