"""The shipped endpoint `bert-trt` with its lock of dev, in an embedded AWS: engines by stand-ins, a real Triton, its metrics."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from artifact_bucket import REGION
from engine_bucket import EngineBucket, engine_bucket
from fleet.artifacts.publish import Published
from fleet.local.aws.server import EmbeddedAws
from fleet.local.gateway import Gateway
from fleet.local.metrics.publisher import Publisher
from fleet.local.metrics.recorder import Recorder
from fleet.local.state import LocalState
from fleet.local.triton.runtime import TritonRuntime
from fleet.local.triton_host import TritonHost
from fleet.spec.environment import LocalLimits
from fleet_client import TritonEndpoint
from fleet_folder import ROOT, FleetFolder
from tests.e2e.embedded_app.clients import client
from tests.e2e.embedded_app.stacks import Stacks, endpoint

ENDPOINT = "bert-trt"
EXAMPLE = "examples/bert_trt"
SHIPPED = ("model_specs/bert-trt.yaml", "locks/dev/bert-trt.lock.yaml")


@dataclass(frozen=True)
class Berts:
    """The endpoint and what surrounds it; what was published, and the ONNX model of its engines."""

    aws: EmbeddedAws
    host: TritonHost
    publisher: Publisher
    state: LocalState
    bucket: EngineBucket
    published: Published
    onnx: bytes

    @property
    def endpoint(self) -> TritonEndpoint:
        """The client of applications."""
        return TritonEndpoint(ENDPOINT, client=client(self.aws, "sagemaker-runtime"))

    @property
    def report(self) -> dict[str, Any]:
        """The endpoint's part of the status."""
        (report,) = self.host.report()
        return report

    def loaded(self) -> list[str]:
        """The targets that are in memory."""
        return [each["target"] for each in self.report["models"] if each["state"] == "loaded"]

    def metric(self, namespace: str, name: str, statistic: str) -> float:
        """One statistic of a metric of SageMaker's in the embedded CloudWatch, over all that was."""
        self.publisher.publish_now()
        now = datetime.now(UTC)
        points = client(self.aws, "cloudwatch").get_metric_statistics(
            Namespace=namespace,
            MetricName=name,
            Dimensions=[
                {"Name": "EndpointName", "Value": ENDPOINT},
                {"Name": "VariantName", "Value": "AllTraffic"},
            ],
            StartTime=now - timedelta(hours=1),
            EndTime=now + timedelta(minutes=1),
            Period=86400,
            Statistics=[statistic],
        )["Datapoints"]
        return float(sum(point[statistic] for point in points))


@contextmanager
def deployed_berts(runtime: TritonRuntime, folder: Path, limits: LocalLimits) -> Iterator[Berts]:
    """What the shipped files lead to is published and served; of its stack there is the endpoint alone."""
    recorder, state = Recorder(), LocalState(folder)
    host = TritonHost(
        state, runtime, s3=lambda: client(aws, "s3"), limits=lambda: limits, record=recorder.record
    )
    aws = EmbeddedAws(host, Gateway(host.calling, account="123456789012", region=REGION))
    publisher = Publisher(
        recorder, sources=host.sources, gauges=host.gauges, cloudwatch=lambda: client(aws, "cloudwatch")
    )
    aws.start()
    try:
        fleet = FleetFolder(folder)
        bucket = engine_bucket(aws.url, fleet)
        fleet.environment()
        onnx = _shipped(folder)
        published = bucket.publish()
        (resolved,) = bucket.artifacts.endpoints
        resources = endpoint(ENDPOINT, image=resolved.image.uri, data=resolved.model_data_url)
        container = resources["Model"]["Properties"]["PrimaryContainer"]
        container |= {"Mode": "MultiModel", "Environment": dict(resolved.variables)}
        assert Stacks(aws).create("berts", resources) == "CREATE_COMPLETE"
        yield Berts(aws, host, publisher, state, bucket, published, onnx)
    finally:
        host.close()
        aws.stop()


def _shipped(root: Path) -> bytes:
    """The files of the clone, and the ONNX model, which a script makes."""
    for place in SHIPPED:
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / place, root / place)
    shutil.copytree(ROOT / EXAMPLE / "models", root / EXAMPLE / "models")
    model = root / EXAMPLE / "model.onnx"
    subprocess.run(
        [sys.executable, ROOT / EXAMPLE / "make_model.py", "--into", model], check=True, capture_output=True
    )
    return model.read_bytes()
