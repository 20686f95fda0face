"""Asks the local model zoo for more models than its memory holds, and shows which had to leave.

The local fleet's URL and keys come from the environment that `fleet local env` prints, or from what
`fleet local up` has written down.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import numpy as np
import numpy.typing as npt
import onnx
import urllib3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from make_models import find_graphs

from fleet_client import CLIENT_CONFIG, FleetClientError, TritonEndpoint

ENDPOINT = "model-zoo"
PIXELS = (1, 3, 224, 224)
MIB = 1024 * 1024
Arrays = dict[str, npt.NDArray[Any]]


class NotServedError(Exception):
    """The local fleet does not serve the model zoo."""


class Zoo:
    """The endpoint, and what the local fleet tells about it."""

    def __init__(self, session: boto3.Session, url: str) -> None:
        self.session, self.url = session, url
        client = session.client("sagemaker-runtime", endpoint_url=url, config=CLIENT_CONFIG)
        self.endpoint = TritonEndpoint(ENDPOINT, client=client)
        self.evictions: set[str] = set()

    def ask(self, archive: str, inputs: Mapping[str, npt.NDArray[Any]]) -> Arrays:
        """One inference; prints a line of the table."""
        target = f"{archive}.tar.gz"
        before, start = self.memory_by_target(), time.monotonic()
        answer = self.endpoint.infer(inputs, target=target)
        seconds, after = time.monotonic() - start, self.memory_by_target()
        state = "loaded" if target in before else "not loaded"
        evicted_targets = before.keys() - after.keys()
        self.evictions |= evicted_targets
        line = f"{target:<22}{state:<12}{1000 * seconds:6.0f} ms{sum(after.values()) / MIB:8.0f} MiB"
        print(f"{line}   {', '.join(sorted(evicted_targets)) or '-'}")
        return answer

    def memory_by_target(self) -> dict[str, int]:
        """Bytes of memory by target; a model that is on disk alone takes none."""
        for endpoint in json.loads(self._fleet("GET", "status"))["endpoints"]:
            if endpoint["endpoint"] == ENDPOINT:
                return {
                    model["target"]: model["memory"] for model in endpoint["models"] if model["memory"] > 0
                }
        raise NotServedError

    def hits(self, since: datetime) -> tuple[float, float]:
        """How many calls found their model loaded, and how many calls there were, by CloudWatch."""
        self._fleet("POST", "metrics")
        points = self.session.client("cloudwatch", endpoint_url=self.url).get_metric_statistics(
            Namespace="AWS/SageMaker",
            MetricName="ModelCacheHit",
            Dimensions=[
                {"Name": "EndpointName", "Value": ENDPOINT},
                {"Name": "VariantName", "Value": "AllTraffic"},
            ],
            StartTime=since,
            EndTime=datetime.now(UTC) + timedelta(minutes=1),
            Period=60,
            Statistics=["Average", "SampleCount"],
        )["Datapoints"]
        calls = sum(point["SampleCount"] for point in points)
        return sum(point["Average"] * point["SampleCount"] for point in points), calls

    def _fleet(self, method: str, page: str) -> bytes:
        """The local fleet's answer beside its API; it wants the same signature."""
        request = AWSRequest(method=method, url=f"{self.url}/_fleet/{page}")
        SigV4Auth(self.session.get_credentials(), "fleet", self.session.region_name).add_auth(request)
        answer = urllib3.request(method, request.url, headers=dict(request.headers), timeout=60.0)
        if answer.status != 200:
            raise NotServedError
        return answer.data


def main() -> int:
    try:
        zoo = Zoo(*local_fleet())
        zoo.memory_by_target()  # before anything is printed: it may not be served
        show(zoo)
    except (NotServedError, json.JSONDecodeError, urllib3.exceptions.HTTPError):
        print(
            f"demo: the local fleet does not serve {ENDPOINT}; run: fleet local up {ENDPOINT}",
            file=sys.stderr,
        )
        return 2
    except (FleetClientError, FileNotFoundError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 2
    return 0


def show(zoo: Zoo) -> None:
    minute = datetime.now(UTC).replace(second=0, microsecond=0)
    tensor = (np.arange(np.prod(PIXELS)) / np.prod(PIXELS)).reshape(PIXELS).astype(np.float32)
    image = (255 * tensor[0]).astype(np.uint8).transpose(1, 2, 0)
    sentence = np.array([["A woman is playing the violin."]], dtype=np.object_)

    print("target                it was       answered   all loaded   had to leave")
    (classes,) = zoo.ask("resnet50", {"gpu_0/data_0": tensor}).values()
    best = zoo.ask("top-classes", {"probabilities": classes})
    zoo.ask("inception-v1", {"data_0": tensor})
    zoo.ask("image-classes", {"image": image})
    zoo.ask("sentences", {"INPUT0": sentence})
    zoo.ask("resnet50", {"gpu_0/data_0": tensor})
    zoo.ask("resnet50", {"gpu_0/data_0": tensor})

    if not zoo.evictions:
        print("none had to leave: start with `local: {model_memory: 512MiB}` in environments/local.yaml")

    distance = np.abs(classes - sample_output("light_resnet50_output_0.pb")).max()
    print(f"\nresnet50: {classes.size} probabilities, {classes.min():.4f} to {classes.max():.4f}", end="")
    print(f", at most {distance:.1e} from what the onnx package ships as this graph's answer")
    class_list = ", ".join(str(index) for index in best["classes"][0])
    print(f"top-classes: {class_list} (the graph is not trained: all are alike, and the lower comes first)")
    hits, calls = zoo.hits(minute)
    print(f"cache hits since {minute:%H:%M} UTC: {hits:.0f} of {calls:.0f} calls", end="")
    print(f" ({hits / calls:.0%})" if calls > 0 else "")


def sample_output(name: str) -> npt.NDArray[Any]:
    """The answer of the onnx package's graph to the input of its own tests."""
    return onnx.numpy_helper.to_array(onnx.TensorProto.FromString((find_graphs() / name).read_bytes()))


def local_fleet() -> tuple[boto3.Session, str]:
    if url := os.environ.get("AWS_ENDPOINT_URL"):
        return boto3.Session(), url
    state = Path(__file__).parents[2] / ".fleet" / "local"
    if not (state / "supervisor.json").is_file():
        raise NotServedError
    supervisor, keys = (json.loads((state / name).read_text()) for name in ("supervisor.json", "keys.json"))
    session = boto3.Session(
        aws_access_key_id=keys["access_key_id"],
        aws_secret_access_key=keys["secret_access_key"],
        region_name=supervisor["region"],
    )
    return session, supervisor["url"]


if __name__ == "__main__":
    sys.exit(main())
