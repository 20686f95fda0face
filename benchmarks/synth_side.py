"""One way of benchmarks/synth.py, as a process: it synthesises a fleet and says what each part of that took.

`python synth_side.py WAY FLEET FIRST`. The ways:
- `fleet`: the project's own way, as app.py goes it, from specs and locks in the folder FLEET.
- `ungated`: the same without cdk-nag.
- `hand`: L1 classes, from FLEET/values.json. The app around them is the same: Foundation, tags, cdk-nag.

The app is made without endpoints first, then with the few of the folder FIRST, which load what all share;
then without endpoints until its time settles, and then with those that are measured. The first two show what
is paid once, the last without endpoints what the app around them costs.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import psutil

if TYPE_CHECKING:
    from aws_cdk import App

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "constructs")]
ENVIRONMENT = "dev"
SETTLING = 4


@dataclass(frozen=True)
class Way:
    """How an app is made: what is read of a folder, with its endpoints or without, and how it is declared."""

    read: Callable[[Path, bool], Any]
    add: Callable[[App, Any], None]


class Parts:
    """Seconds of each part, by the wall and of the processor: this process and those it has started."""

    def __init__(self) -> None:
        self.seconds: dict[str, dict[str, float]] = {}

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Time what is done inside."""
        begin = _clocks()
        yield
        self.seconds[name] = {clock: now - begin[clock] for clock, now in _clocks().items()}


def _clocks() -> dict[str, float]:
    processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    times = [process.cpu_times() for process in processes]
    return {"wall": time.perf_counter(), "processor": sum(each.user + each.system for each in times)}


def main() -> None:
    """Synthesise one fleet in one way."""
    name, folder, first, parts = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), Parts()
    with parts.timed("start"):
        from aws_cdk import App
    with parts.timed("import"):
        way = {"fleet": own_way, "ungated": ungated_way, "hand": way_by_hand}[name]()

    def made(endpoints: Path | None) -> None:
        app = App(outdir=str(folder / name / "none"))
        way.add(app, way.read(endpoints or folder, endpoints is not None))
        app.synth()

    with parts.timed("foundation"):
        made(None)
    with parts.timed("first"):
        made(first)
    for part in (*(f"settling {number}" for number in range(SETTLING)), "again"):
        with parts.timed(part):
            made(None)
    with parts.timed("resolve"):
        read = way.read(folder, True)
    with parts.timed("constructs"):
        app = App(outdir=str(folder / name / "all"))
        way.add(app, read)
    with parts.timed("synth"):
        app.synth()
    print(json.dumps(parts.seconds))


def own_way() -> Way:
    """What app.py does."""
    from fleet.resolve.endpoint import ResolvedFleet
    from fleet.resolve.resolve import resolve_fleet, resolve_foundation
    from stacks.fleet_app import add_fleet

    def read(folder: Path, endpoints: bool) -> ResolvedFleet:
        return (resolve_fleet if endpoints else resolve_foundation)(folder, ENVIRONMENT)

    return Way(read, add_fleet)


def ungated_way() -> Way:
    """What app.py does, without cdk-nag."""
    way = own_way()

    def add(app: App, fleet: Any) -> None:
        with mock.patch("stacks.fleet_app.Validations"):
            way.add(app, fleet)

    return Way(way.read, add)


def way_by_hand() -> Way:
    """The same app, its endpoints by hand; their values are known, so nothing is resolved."""
    from aws_cdk import Tags, Validations
    from by_hand.endpoint import endpoint_stack
    from by_hand.values import FILE, Endpoint
    from cdk_nag import AwsSolutionsChecks

    from fleet.resolve.endpoint import Place
    from fleet.resolve.resolve import resolve_foundation
    from stacks.foundation import FoundationStack

    def read(folder: Path, endpoints: bool) -> tuple[Place, list[Endpoint]]:
        values = json.loads((folder / FILE).read_text()) if endpoints else []
        return resolve_foundation(folder, ENVIRONMENT).place, [Endpoint(**each) for each in values]

    def add(app: App, known: tuple[Place, list[Endpoint]]) -> None:
        place, endpoints = known
        Validations.of(app).add_plugins(AwsSolutionsChecks(app))
        for name, value in place.tags.items():
            Tags.of(app).add(name, value)
        FoundationStack(app, place=place)
        for endpoint in endpoints:
            endpoint_stack(app, endpoint)

    return Way(read, add)


if __name__ == "__main__":
    main()
