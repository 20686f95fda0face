"""Synth: what an endpoint costs in the project's own way, against the CDK's own lower bound.

`make bench NAME=synth`. The lower bound is the same templates declared again as plain CfnResources, every
value known, in the same app with the same Foundation and tags: nothing in Python can be faster with the
CDK. cdk-nag, which the project's own way runs as its gate, is left out of the ratio on both sides and
shown apart. Nothing is timed until the templates of both are the same, for 2 and for 10 endpoints. Fleets
of 1, 10 and 100 endpoints take turns, each in a process of its own, the ways side by side; it takes four
minutes on two busy cores. An endpoint costs what an app with endpoints takes beyond one without, made in the
same process just before, so that starting Node.js, imports, Foundation and what the first endpoints load are
not in it; they are shown apart. Exits with 1 where ours costs more than BAR times as much, for any number
of endpoints, by medians.

The bar applies to processor time, of Python and Node.js together, which other programs change less than
wall time. As the two of them wait for each other, one is close to the other; both are shown.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

from short import is_short
from synth_fleets import make_fleet
from synth_side import endpoint_templates

FLEET, OURS, RAW = "fleet", "ungated", "raw"
TURNS = {1: 1} if is_short() else {1: 3, 10: 3, 100: 1}
"""By number of endpoints: the fewer there are, the less of a run is theirs."""
MOST = max(TURNS)
FIRST = 2
"""Endpoints, one of each kind, that load what all others share."""
BAR = 2.5
FOUNDATION = "triton-fleet-dev"

Run: TypeAlias = dict[str, dict[str, float]]
"""Seconds by part and clock."""
Runs: TypeAlias = dict[tuple[str, int], list[Run]]
FIXED = {
    "start": "start of Node.js, import of the CDK",
    "import": "imports of cdk-nag and the project",
    "foundation": "first app: tags, Foundation, cdk-nag",
    "first": "first endpoints: facts, rules, classes",
}
PARTS = {"resolve": "read and resolved", "constructs": "constructs", "synth": "synth"}


def main() -> int:
    """Compare, measure, print, and compare with the bar."""
    with tempfile.TemporaryDirectory() as name:
        fleets = {count: make_fleet(Path(name) / str(count), count) for count in (FIRST, *TURNS)}
        for count in [FIRST] if is_short() else [FIRST, 10]:
            _require_same_templates(fleets[count])
        runs = _measured(fleets.pop(FIRST), fleets)
    _show_fixed(runs)
    ratios = {
        f"{prefix}times_raw_{count}": ratio
        for prefix, clock in {"": "processor", "wall_": "wall"}.items()
        for count, ratio in _show_endpoints(runs, clock).items()
    }
    _show_parts(runs)
    print(json.dumps({name: round(ratio, 2) for name, ratio in ratios.items()}))
    return int(not is_short() and any(ratios[f"times_raw_{count}"] > BAR for count in TURNS))


def _require_same_templates(fleet: Path) -> None:
    """Synthesise the fleet in both ways.

    Raises:
        AssertionError: their templates differ, so that comparing their times would show nothing.
    """
    templates: list[dict[str, Any]] = []
    for way in (OURS, RAW):
        _run(way, fleet, fleet)
        templates.append(endpoint_templates(fleet, FOUNDATION, way))
    ours, theirs = templates
    if ours != theirs or not ours:
        raise AssertionError(f"{OURS} and {RAW} differ: {sorted(ours)}, {sorted(theirs)}")


def _measured(first: Path, fleets: dict[int, Path]) -> Runs:
    """All runs; the way that begins alternates."""
    runs: Runs = defaultdict(list)
    for turn in range(max(TURNS.values())):
        for count, fleet in fleets.items():
            ways = [OURS, RAW, *([FLEET] if count == MOST else [])] if turn < TURNS[count] else []
            for way in reversed(ways) if turn % 2 else ways:
                runs[way, count].append(_run(way, fleet, first))
    return runs


def _run(way: str, fleet: Path, first: Path) -> Run:
    """One process, with the CDK's settings as the CLI hands them on.

    Raises:
        subprocess.CalledProcessError: it failed; its output is on standard error.
    """
    root = Path(__file__).resolve().parents[1]
    settings = json.dumps(json.loads((root / "cdk.json").read_text())["context"])
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    variables = {**os.environ, "CDK_CONTEXT_JSON": settings, "PATH": path, "PYTHONDONTWRITEBYTECODE": ""}
    command = [sys.executable, str(root / "benchmarks" / "synth_side.py"), way, str(fleet), str(first)]
    command += ["--short"] if is_short() else []
    done = subprocess.run(command, env=variables, stdout=subprocess.PIPE, text=True, check=True)
    run: Run = json.loads(done.stdout)
    return run


def _show_fixed(runs: Runs) -> None:
    """What a synth takes whatever the number of endpoints."""
    print("without endpoints: seconds (wall)")
    _row("", ["ours", "raw"])
    of = {way: [run for count in TURNS for run in runs[way, count]] for way in (OURS, RAW)}
    for part, title in FIXED.items():
        _row(title, [f"{_median(run[part]['wall'] for run in of[way]):.2f}" for way in of])
    for clock in ("wall", "processor"):
        sums = [_median(sum(run[part][clock] for part in FIXED) for run in of[way]) for way in of]
        _row(
            "all of it" if clock == "wall" else "all of it, processor time", [f"{each:.2f}" for each in sums]
        )


def _show_endpoints(runs: Runs, clock: str) -> dict[int, float]:
    """What an endpoint takes beyond that, and how many times as much as raw."""
    print(f"\nan endpoint beyond that: milliseconds ({clock})")
    _row("endpoints", ["ours", "raw", "times"])
    ratios: dict[int, float] = {}
    for count in TURNS:
        ours, theirs = (_each(runs, way, count, clock) for way in (OURS, RAW))
        ratios[count] = ours / theirs
        _row(str(count), [f"{1000 * ours:.1f}", f"{1000 * theirs:.1f}", f"{ratios[count]:.2f}"])
    return ratios


def _show_parts(runs: Runs) -> None:
    """Where the time of an endpoint goes."""
    for count in TURNS:
        print(f"\nof which, where there are {count}: milliseconds (wall)")
        _row("", ["ours", "raw"])
        for part, title in PARTS.items():
            of = (_median(run[part]["wall"] for run in runs[way, count]) for way in (OURS, RAW))
            _row(title, [f"{1000 * each / count:.1f}" for each in of])
    gated, ungated = (_each(runs, way, MOST, "wall") for way in (FLEET, OURS))
    _row("cdk-nag, beside both", [f"{1000 * (gated - ungated):.1f}"])


def _each(runs: Runs, way: str, count: int, clock: str) -> float:
    """Seconds of one of so many endpoints.

    The app without endpoints is the same in both ways, so all its runs are taken together.
    """
    same = (FLEET,) if way == FLEET else (OURS, RAW)
    around = _median(run["again"][clock] for (each, _), of in runs.items() if each in same for run in of)
    whole = _median(sum(run[part][clock] for part in PARTS) for run in runs[way, count])
    return (whole - around) / count


def _row(title: str, cells: list[str]) -> None:
    print(f"{title:<38}" + "".join(f"{cell:>10}" for cell in cells))


def _median(values: Iterable[float]) -> float:
    return statistics.median(values)


if __name__ == "__main__":
    sys.exit(main())
