"""The real server's verdict on each case."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from fleet_emulator.hosting import HostingError
from tests.support.broken_repositories import SINGLE, Case
from triton_fleet.local.containers import ModelRefusal
from triton_fleet.local.multi_model.loading import ModelsApi
from triton_fleet.local.triton.container import MULTI_MODEL
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.local.triton.server import TritonServer
from triton_fleet.local.try_load.preparation import with_stand_ins

SERVERS, SHARES = 12, 48
"""At a time, as a load waits for most of its time; and in all, as what is loaded takes memory until the end.

Several loads at a time in one server end it now and then (tried with 24.10).
"""
STOOD_IN_FOR = ("tensorrt",)
QUIET = {
    "SAGEMAKER_TRITON_LOG_VERBOSE": "false",
    # A region of this size is kept for each Python model.
    "SAGEMAKER_TRITON_SHM_DEFAULT_BYTE_SIZE": str(1 << 20),
}


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Whether a repository was loaded, and all that Triton said if it was not."""

    is_loaded: bool
    message: str = ""


class Court:
    """Servers in multi-model mode, and one for each case of single mode."""

    def __init__(self, runtime: TritonRuntime, folder: Path) -> None:
        with_stand_ins(runtime.backend_directory, STOOD_IN_FOR, folder / "backends")
        self._runtime = replace(runtime, backend_directory=folder / "backends")
        self._folder = folder

    def verdicts(self, cases: Sequence[Case]) -> dict[str, Verdict]:
        """Verdicts by the ids of the cases."""
        multi = [case for case in cases if case.mode != SINGLE]
        with ThreadPoolExecutor(SERVERS) as pool:
            single = {case.id: pool.submit(self._single, case) for case in cases if case.mode == SINGLE}
            together_cases = [multi[start::SHARES] for start in range(SHARES)]
            of_multi = pool.map(self._multi_model, range(SHARES), together_cases)
            result = {case: verdict.result() for case, verdict in single.items()}
            for verdicts in of_multi:
                result |= verdicts
        return result

    def _multi_model(self, number: int, cases: Sequence[Case]) -> dict[str, Verdict]:
        """One server for several cases; one that ends is followed by another."""
        verdicts = dict[str, Verdict]()
        while len(verdicts) < len(cases):
            server = self._server(
                self._folder / f"{number}-{len(verdicts)}" / "no-models", {MULTI_MODEL: "true"}
            )
            try:
                server.start()
                server.wait_ready(30.0)
                for case in cases[len(verdicts) :]:
                    verdicts[case.id] = self._load(server, case)
            except ModelRefusal as refusal:
                verdicts[case.id] = Verdict(is_loaded=False, message=str(refusal))
            finally:
                server.stop(grace=0.0)
        return verdicts

    def _load(self, server: TritonServer, case: Case) -> Verdict:
        # Nothing is unloaded, which takes Triton seconds: each model has a namespace of its own.
        repository = self._folder / case.id / "model"
        # As the product does it: outside of /opt/ml/models Triton does not find files at the root.
        case.write(repository / "model" if "config.pbtxt" in case.files else repository)
        start = server.log_end()
        answer = ModelsApi(server).load(case.id, case.target, repository)
        if answer.status == 200:
            return Verdict(is_loaded=True)
        text = str(json.loads(answer.message)["error"])
        if "failed to poll" in text:
            text = f"{text}; {server.reason(repository, start)}"
        return Verdict(is_loaded=False, message=text)

    def _single(self, case: Case) -> Verdict:
        repository = case.write(self._folder / case.id / "model")
        server = self._server(repository, {})
        try:
            server.start()
            server.wait_ready(30.0)
        except HostingError as error:
            return Verdict(is_loaded=False, message=str(error))
        finally:
            server.stop(grace=0.0)
        return Verdict(is_loaded=True)

    def _server(self, repository: Path, environment: dict[str, str]) -> TritonServer:
        repository.mkdir(parents=True, exist_ok=True)
        log = repository.parent / "triton.log"
        return TritonServer(self._runtime, repository, {**QUIET, **environment}, log=log)
