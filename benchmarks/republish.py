"""A thousand unchanged archives published again: how much longer it takes than the listing that it needs.

`make bench NAME=republish`. The archives, of 10 KiB each, are one multi-model endpoint's; S3 is embedded.
Exits with 1 where publishing again takes more than 2 s beyond listing: the medians of one run, in which both
take turns.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from short import is_short

from fleet_emulator.hosting import DeployedEndpoint, EndpointId
from fleet_emulator.server import EmbeddedAws
from triton_fleet.awsapi.emulator import Keys, local_session
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.printers.console import OutputConsole
from triton_fleet.project.project import Project, open_project
from triton_fleet.store.content_store import list_objects
from triton_fleet.store.lock import write_locks
from triton_fleet.store.progress import LineProgress
from triton_fleet.store.publish.publish import PublishResult, publish
from triton_fleet.store.upload.archives import UPLOAD_CONFIG

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

ARCHIVES, ROUNDS = (20, 1) if is_short() else (1000, 7)
SECONDS_BEYOND_LISTING = 2.0
ENVIRONMENT = 'environment: dev\naccount: "123456789012"\nregion: us-east-1\n'
SPEC = 'endpoint: zoo\nmode: multi-model\ntriton: "25.04"\ninstance: {type: ml.g5.xlarge}\nmodels:\n'


@dataclass(frozen=True)
class Republished:
    """Seconds: the first publish, the listing alone, and publishing again what has not changed."""

    first: float
    listing: float
    again: float

    @property
    def beyond_listing(self) -> float:
        """What publishing again takes more than its listing."""
        return self.again - self.listing

    @property
    def is_fast_enough(self) -> bool:
        """Whether that is within the bar."""
        return is_short() or self.beyond_listing <= SECONDS_BEYOND_LISTING

    def show(self) -> None:
        """Print it."""
        print(f"{ARCHIVES:,} archives behind one endpoint, published to the embedded S3: seconds")
        for name, seconds in (
            ("the first time", self.first),
            ("the listing alone", self.listing),
            ("again, nothing changed", self.again),
            ("beyond the listing", self.beyond_listing),
        ):
            print(f"{name:<32}{seconds:>12.3f}")


def main() -> int:
    """Measure, print, and compare with the bar."""
    result = republished()
    result.show()
    print(json.dumps({"republish_beyond_listing_s": round(result.beyond_listing, 3)}))
    return int(not result.is_fast_enough)


KEYS = Keys.random()


def republished() -> Republished:
    """Publish the archives, then list and publish again in turns."""
    aws = EmbeddedAws(_Nobody(), keys=KEYS)
    aws.start()
    try:
        with tempfile.TemporaryDirectory() as folder:
            return _measured(_project(Path(folder)), aws.url)
    finally:
        aws.stop()


def _measured(project: Project, url: str) -> Republished:
    (endpoint,) = resolve_project(project).endpoints
    bucket = endpoint.deployment.bucket
    s3: S3Client = local_session(endpoint.deployment.region, KEYS).client(
        "s3", endpoint_url=url, config=UPLOAD_CONFIG
    )
    s3.create_bucket(Bucket=bucket)

    def once() -> PublishResult:
        again = open_project(project.root, "dev")  # what the command does: spec and lock are read again
        return publish(
            s3, again, resolve_project(again).endpoints, LineProgress(OutputConsole(file=StringIO()))
        )

    def listing() -> int:
        return len(list_objects(s3, bucket, endpoint.model_data))

    first = _seconds(once)
    if listing() != ARCHIVES or once() != PublishResult(present=ARCHIVES):
        raise AssertionError("not all archives are published")
    turns = [(_seconds(listing), _seconds(once)) for _ in range(ROUNDS)]
    alone, again = (statistics.median(each) for each in zip(*turns, strict=True))
    return Republished(first, alone, again)


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _project(root: Path) -> Project:
    """A fleet of one endpoint, locked."""
    names = [f"model-{number:04}" for number in range(ARCHIVES)]
    for name in names:
        model = root / "repositories" / name / "scale"
        (model / "1").mkdir(parents=True)
        (model / "config.pbtxt").write_text('backend: "python"\n')
        (model / "1" / "model.py").write_text(f"NAME = {name!r}\n")
    entries = [f"  - {{archive: {name}, repository: ../repositories/{name}}}\n" for name in names]
    for file, text in (("environments/dev", ENVIRONMENT), ("model_specs/zoo", SPEC + "".join(entries))):
        (root / file).parent.mkdir()
        (root / f"{file}.yaml").write_text(text)
    project = open_project(root, "dev")
    write_locks(project)
    return project


class _Nobody:
    """Hosts no endpoint: none is deployed."""

    def serve(self, endpoint: DeployedEndpoint) -> None:
        """Not asked for."""

    def scale(self, id: EndpointId) -> None:
        """Not asked for."""

    def remove(self, id: EndpointId) -> None:
        """Not asked for."""


if __name__ == "__main__":
    sys.exit(main())
