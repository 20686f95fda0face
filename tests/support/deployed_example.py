"""A shipped multi-model endpoint with its lock of dev, in an embedded AWS: engines by stand-ins, a real Triton, its metrics."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fleet_client import TritonEndpoint
from fleet_emulator.permissions import may_put_metrics
from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.stacks import ROLE, Stacks, endpoint
from tests.support.embedded_keys import KEYS
from tests.support.engine_bucket import EngineBucket, empty_engine_bucket
from tests.support.fleet_folder import ROOT, FleetFolder
from triton_fleet.local.endpoint_host import TritonHost
from triton_fleet.local.gateway import Gateway
from triton_fleet.local.metrics.publisher import Publisher
from triton_fleet.local.metrics.recorder import Recorder
from triton_fleet.local.state import LocalState
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.spec.environment import LocalLimits
from triton_fleet.store.publish.publish import PublishResult


@dataclass(frozen=True)
class Example:
    """A shipped endpoint: its name, its folder below examples/, and the scripts that make what git has not.

    Each script is given with what it is told to write: a file or folder, relative to its own.
    """

    endpoint: str
    folder: str
    scripts: Mapping[str, str]

    def copy_to(self, root: Path) -> None:
        """Copy spec, profiles, lock and repositories to another project, and make the rest there."""
        for place in (f"model_specs/{self.endpoint}.yaml", f"locks/dev/{self.endpoint}.lock.yaml"):
            (root / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / place, root / place)
        shutil.copytree(ROOT / "profiles", root / "profiles", dirs_exist_ok=True)
        text, own_text = (folder / "examples" / self.folder for folder in (ROOT, root))
        shutil.copytree(
            text / "models", own_text / "models", ignore=shutil.ignore_patterns("__pycache__", ".*")
        )
        for script, into in self.scripts.items():
            command: list[str | Path] = [sys.executable, text / script, "--into", own_text / into]
            subprocess.run(command, check=True, capture_output=True)


@dataclass(frozen=True)
class DeployedExample:
    """The endpoint and what surrounds it; what was published."""

    name: str
    aws: EmbeddedAws
    host: TritonHost
    publisher: Publisher
    state: LocalState
    bucket: EngineBucket
    publication: PublishResult

    @property
    def endpoint(self) -> TritonEndpoint:
        """The client of applications."""
        return TritonEndpoint(self.name, client=client(self.aws, "sagemaker-runtime"))

    @property
    def report(self) -> dict[str, Any]:
        """The endpoint's part of the status."""
        (report,) = self.host.report()
        return report

    @property
    def log(self) -> Path:
        """The log of its Triton."""
        return self.state.endpoint_log(str(self.report["log"]))

    def loaded_models(self) -> list[str]:
        """The targets that are in memory."""
        return [model["target"] for model in self.report["models"] if model["state"] == "loaded"]

    def metric(self, namespace: str, name: str, statistic: str) -> float:
        """One statistic of a metric of SageMaker's in the embedded CloudWatch, over all that was."""
        self.publisher.publish_on_demand()
        current_time = datetime.now(UTC)
        points = client(self.aws, "cloudwatch").get_metric_statistics(
            Namespace=namespace,
            MetricName=name,
            Dimensions=[
                {"Name": "EndpointName", "Value": self.name},
                {"Name": "VariantName", "Value": "AllTraffic"},
            ],
            StartTime=current_time - timedelta(hours=1),
            EndTime=current_time + timedelta(minutes=1),
            Period=86400,
            Statistics=[statistic],
        )["Datapoints"]
        return float(sum(point[statistic] for point in points))


@contextmanager
def deploy_example(
    example: Example, runtime: TritonRuntime, folder: Path, limits: LocalLimits
) -> Iterator[DeployedExample]:
    """The stack of the shipped files is published and served; of it there are endpoint and role."""
    recorder, state = Recorder(), LocalState(folder)
    host = TritonHost(
        state,
        runtime,
        s3=lambda *_: client(aws, "s3"),
        limits=lambda: limits,
        record=recorder.record,
        may_put=may_put_metrics,
    )
    aws = EmbeddedAws(host, Gateway(host.open_call), keys=KEYS)
    publisher = Publisher(
        recorder, sources=host.sources, gauges=host.gauges, cloudwatch=lambda *_: client(aws, "cloudwatch")
    )
    aws.start()
    try:
        fleet = FleetFolder(folder)
        bucket = empty_engine_bucket(aws.url, fleet)
        fleet.environment()
        example.copy_to(folder)
        published_result = bucket.publish()
        (resolved_endpoint,) = bucket.artifacts.endpoints
        resources = endpoint(
            example.endpoint, image=resolved_endpoint.image.uri, data=resolved_endpoint.model_data_url
        )
        container = resources["Model"]["Properties"]["PrimaryContainer"]
        container |= {"Mode": "MultiModel", "Environment": dict(resolved_endpoint.variables)}
        resources["Role"] = _role()
        assert Stacks(aws).create("example", resources) == "CREATE_COMPLETE"
        yield DeployedExample(example.endpoint, aws, host, publisher, state, bucket, published_result)
    finally:
        host.close()
        aws.stop()


def _role() -> dict[str, Any]:
    """The endpoint's, which may publish metrics of all namespaces."""
    trust = {
        "Effect": "Allow",
        "Action": "sts:AssumeRole",
        "Principal": {"Service": "sagemaker.amazonaws.com"},
    }
    publish = {"Effect": "Allow", "Action": "cloudwatch:PutMetricData", "Resource": "*"}
    version = {"Version": "2012-10-17"}
    policy = {"PolicyName": "metrics", "PolicyDocument": {**version, "Statement": [publish]}}
    properties = {
        "RoleName": ROLE.rpartition("/")[2],
        "AssumeRolePolicyDocument": {**version, "Statement": [trust]},
        "Policies": [policy],
    }
    return {"Type": "AWS::IAM::Role", "Properties": properties}
