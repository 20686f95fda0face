"""The router of a shared container: what it costs beside Triton alone, and beside gunicorn and Flask.

`make bench NAME=router`. wrk with one thread and eight connections sends a tensor of four numbers in seven
ways that take turns: to Triton itself, to the container by header, by a header that only its script reads,
and by `modelname` in the body, and to the three forms of router_reference.py. All of them ask one Triton for
one model that answers with its input; it is in Python, as the wheel has no other backend. The reference's
requests/s are those of calls that are spread evenly over the post's three models, of which two are asked by
gRPC. What the router adds to the median latency is measured on one connection: with eight on a few cores,
requests wait for wrk, nginx and Triton to share these, which is printed too. Then bodies just
below SageMaker's limit pass the container on many connections at once, and nginx's memory is sampled.

Exits with 1 where the router answers less than 8 times as many requests as the reference or less than 0.6
times as many as Triton, or adds more than 0.3 ms to its median latency: medians of what each round shows.
So it does where nginx has more memory than its bound. Exits with 2 where wrk, nginx or Triton is missing.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import router_servers as servers
from psutil import Process
from router_bodies import JSON, MODEL, VALUES, large_binary_body, large_named_body, named_body, small_body
from router_load import Load, Request, SampledMemory, missing_wrk, run_wrk
from short import is_short
from urllib3 import PoolManager

from shared_container.nginx_config import MAX_BODY_BYTES
from shared_container.routes import SettingsError
from shared_container.settings import Places
from triton_fleet.findings import CannotRunError
from triton_fleet.local.triton.network import PrivateNetwork
from triton_fleet.local.triton.runtime import find_runtime

ROUNDS, SECONDS = (1, 1) if is_short() else (9, 2)
CONNECTIONS = 8
LARGE_CONNECTIONS, LARGE_SECONDS = (1, 20) if is_short() else (4, 60)
MIN_OF_REFERENCE, MIN_OF_TRITON, MAX_ADDED_MS = 8.0, 0.6, 0.3
BODIES = {"header": 1, "named": 8}
"""How many times the largest body nginx has for one request: by header the body, as most of the answer is in
a file; by name both also as text, as the slice of it that is passed on, and as the bytes of that slice."""
FREED = 1.5
"""The allocator keeps some of what nginx has freed."""
INSIDE = "--inside"
HEADER = {"X-Amzn-SageMaker-Custom-Attributes": f"model={MODEL}"}
SCRIPT = {name: f"{text};trace" for name, text in HEADER.items()}
MIB = 1 << 20


def main() -> int:
    """Start the benchmark in a network of its own: its ports are free, and nobody else calls its servers."""
    if (missing := _missing_program()) is not None:
        print(missing, file=sys.stderr)
        return 2
    network = PrivateNetwork(on_loss=lambda: None)
    with network.start_within([sys.executable, __file__, INSIDE, *sys.argv[1:]]) as (command, descriptor):
        process = subprocess.Popen(command, pass_fds=[descriptor])
    try:
        return process.wait()
    finally:
        process.terminate()
        process.wait()
        network.close()


def _missing_program() -> str | None:
    try:
        Places().nginx_program()
        Places().js_module_file()
        with tempfile.TemporaryDirectory() as cache:
            find_runtime(Path(cache))
    except (CannotRunError, SettingsError) as error:
        return f"{error} (Debian: apt install nginx libnginx-mod-http-js)"
    return missing_wrk()


def measured() -> int:
    """Start the servers, measure, print, and compare with the bars."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with ExitStack() as ends:
        root = Path(ends.enter_context(tempfile.TemporaryDirectory()))
        for name in ("cache", "container", "reference"):
            (root / name).mkdir()
        root.chmod(0o755)  # for nginx's workers, where root starts it
        nginx = ends.enter_context(servers.container(root / "container", find_runtime(root / "cache")))
        ends.enter_context(servers.reference(root / "reference", Places().nginx_program()))
        ways = _ways()
        _check_answers(ways)
        before = os.getloadavg()[0]
        rounds = [_round(ways, number) for number in range(ROUNDS)]
        alone = [_alone(ways, number) for number in range(ROUNDS)]
        _print_rounds(rounds, before)
        told = _compared(rounds, alone)
        processes = [nginx, *nginx.children()]
        for form, request in _large_requests().items():
            told |= _memory(form, request, processes)
    print(json.dumps(told))
    too_much = any(told[f"{form}_memory_mib"] > told[f"{form}_bound_mib"] for form in BODIES)
    too_slow = (
        told["router_to_reference"] < MIN_OF_REFERENCE
        or told["router_to_triton"] < MIN_OF_TRITON
        or told["router_added_ms"] > MAX_ADDED_MS
    )
    return int(too_much or (too_slow and not is_short()))


def _ways() -> dict[str, Request]:
    router = f"http://127.0.0.1:{servers.PORT}/invocations"
    triton = f"http://127.0.0.1:{servers.TRITON_PORT}/v2/models/{MODEL}/infer"
    json_type = {"Content-Type": JSON}
    named = named_body(small_body())
    reference = f"http://127.0.0.1:{servers.REFERENCE_PORT}/invocations"
    return {
        "triton": Request(triton, small_body(), json_type),
        "router": Request(router, small_body(), json_type | HEADER),
        "script": Request(router, small_body(), json_type | SCRIPT),
        "named": Request(router, named, json_type),
        "text client": Request(reference, named, json_type),
        "image client": Request(f"{reference}/image", named, json_type),
        "kept client": Request(f"{reference}/kept", named, json_type),
    }


def _check_answers(ways: dict[str, Request]) -> None:
    """See that each way gives the numbers back."""
    pool = PoolManager()
    for name, way in ways.items():
        answer = pool.request("POST", way.url, body=way.body, headers=way.headers)
        result = answer.json()
        result = result.get("result", result)
        found = result["outputs"][0]["data"] if "outputs" in result else result
        if answer.status != 200 or found != VALUES:
            raise AssertionError(f"{name}: {answer.status} {answer.data!r}")


def _round(ways: dict[str, Request], number: int) -> dict[str, Load]:
    """One run of each way; each round begins with another one."""
    names = list(ways)
    turn = number % len(names)
    return {
        name: run_wrk(ways[name], connections=CONNECTIONS, seconds=SECONDS)
        for name in names[turn:] + names[:turn]
    }


def _alone(ways: dict[str, Request], number: int) -> float:
    """The milliseconds that the router adds to the median latency, on one connection."""
    names = ("triton", "router")[:: 1 if number % 2 else -1]
    found = {name: run_wrk(ways[name], connections=1, seconds=SECONDS).median_ms for name in names}
    return found["router"] - found["triton"]


def _print_rounds(rounds: list[dict[str, Load]], load: float) -> None:
    print(
        f"{CONNECTIONS} connections, medians of {ROUNDS} rounds of {SECONDS} s, load {load:.1f} before them"
    )
    print(f"{'':<14}{'requests/s':>12}{'lowest':>10}{'highest':>10}{'p50 ms':>10}")
    for name in rounds[0]:
        speeds = [each[name].requests_per_second for each in rounds]
        median_ms = statistics.median(each[name].median_ms for each in rounds)
        speed = statistics.median(speeds)
        print(f"{name:<14}{speed:>12,.0f}{min(speeds):>10,.0f}{max(speeds):>10,.0f}{median_ms:>10.3f}")


def _reference_speed(found: dict[str, Load]) -> float:
    """Requests/s where every third call is of the text model, and the others of the image models."""
    text, image = (found[name].requests_per_second for name in ("text client", "image client"))
    return 3 / (1 / text + 2 / image)


def _compared(rounds: list[dict[str, Load]], alone: list[float]) -> dict[str, float]:
    def ratio(one: str, other: str) -> float:
        each = [
            found[one].requests_per_second
            / (_reference_speed(found) if other == "reference" else found[other].requests_per_second)
            for found in rounds
        ]
        return round(statistics.median(each), 2)

    def added(name: str) -> float:
        each = [found[name].median_ms - found["triton"].median_ms for found in rounds]
        return round(statistics.median(each), 3)

    return {
        "router_to_reference": ratio("router", "reference"),
        "router_to_text_client": ratio("router", "text client"),
        "router_to_image_client": ratio("router", "image client"),
        "router_to_kept_client": ratio("router", "kept client"),
        "router_to_triton": ratio("router", "triton"),
        "router_added_ms": round(statistics.median(alone), 3),
        "router_added_ms_of_eight": added("router"),
        "script_to_reference": ratio("script", "reference"),
        "script_to_triton": ratio("script", "triton"),
        "script_added_ms": added("script"),
        "named_to_reference": ratio("named", "reference"),
        "named_to_triton": ratio("named", "triton"),
        "named_added_ms": added("named"),
        "text_client_added_ms": added("text client"),
        "image_client_added_ms": added("image client"),
    }


def _large_requests() -> dict[str, Request]:
    router = f"http://127.0.0.1:{servers.PORT}/invocations"
    binary_type, binary = large_binary_body()
    return {
        "header": Request(router, binary, {"Content-Type": binary_type} | HEADER),
        "named": Request(router, large_named_body(), {"Content-Type": JSON}),
    }


def _memory(form: str, request: Request, processes: list[Process]) -> dict[str, float]:
    if not MAX_BODY_BYTES - 2048 < len(request.body) < MAX_BODY_BYTES:
        raise AssertionError(len(request.body))
    with SampledMemory(processes) as memory:
        load = run_wrk(request, connections=LARGE_CONNECTIONS, seconds=LARGE_SECONDS)
    bound = memory.base + LARGE_CONNECTIONS * BODIES[form] * FREED * MAX_BODY_BYTES
    print(f"{len(request.body):,} bytes by {form}, {LARGE_CONNECTIONS} connections:", end=" ")
    print(f"{load.requests_per_second:.1f} requests/s, nginx {memory.base / MIB:.0f} MiB before,", end=" ")
    print(f"{memory.most / MIB:.0f} MiB at most, bound {bound / MIB:.0f} MiB", flush=True)
    return {
        f"{form}_memory_mib": round(memory.most / MIB, 1),
        f"{form}_bound_mib": round(bound / MIB, 1),
        f"{form}_bodies": round((memory.most - memory.base) / LARGE_CONNECTIONS / MAX_BODY_BYTES, 2),
    }


if __name__ == "__main__":
    sys.exit(measured() if INSIDE in sys.argv else main())
