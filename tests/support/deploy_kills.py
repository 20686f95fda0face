"""Deploys that are killed at random moments, and what is true when the next one is done."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import psutil
from moto.core.base_backend import BackendDict

from tests.support.deploys import SECONDS, Deploys
from tests.support.kills import KILLS, Kill, Tally, Victims, has_died, kill_after, kills

STACKS = {"CDKToolkit", "triton-fleet-dev", "triton-fleet-dev-sentences"}
OTHER_AT_WORK = "another `fleet deploy --env dev` is running in this clone\n  remedy: wait until it has ended"
KILLS_PER_FIRST_DEPLOY = 4
"""The last of so many kills befalls the first deploy of an account, which is the longest."""
UNTIDY = (".fleet/deploy/dev/cdk.out", "home", "node_modules", "repository")
"""Where the files differ from deploy to deploy."""


@dataclass
class KilledDeploys:
    """Deploys of an account, each of another model; `tally` is how those after the kills ended."""

    account: Deploys
    tally: Tally = field(default_factory=Tally)

    def run(self) -> None:
        """Kill so many deploys, and see that the next one finishes each."""
        seconds = {
            is_first: self._run_whole(is_first=is_first)
            for is_first in (True, False)[KILLS < KILLS_PER_FIRST_DEPLOY :]
        }
        files = self._files()
        for number, kill in enumerate(kills(list(Victims)), 1):
            is_first = number % KILLS_PER_FIRST_DEPLOY == 0
            self._change(number, is_first=is_first)
            process = self.account.start_deploy()
            said_kill = kill_after(process, kill.share * seconds[is_first], kill.victims)
            self.tally.ended_before += not has_died(process)
            self._finish(kill, said_kill)
            self._require_lock(kill)
            assert self._files() == files, kill

    def _run_whole(self, *, is_first: bool) -> float:
        """How many seconds a deploy takes that nobody kills."""
        self._change(0, is_first=is_first)
        start = time.monotonic()
        self.account.deploy()
        return time.monotonic() - start

    def _change(self, number: int, *, is_first: bool) -> None:
        """Lock another model; with `is_first` for an account that nobody has used yet."""
        if is_first:
            BackendDict.reset()
        self.account.model(f"kills = {number}\n")
        self.account.lock()

    def _finish(self, kill: Kill, message: str) -> None:
        process = self.account.fleet("deploy", "--env", "dev")
        if process.returncode == 2 and OTHER_AT_WORK in process.stderr:
            self.tally.instructions.append(f"{kill}: {process.stderr.splitlines()[0]}")
            self._wait_for_the_cli()
            process = self.account.fleet("deploy", "--env", "dev")
        else:
            self.tally.continuations += 1
        assert process.returncode == 0, f"{kill}\n{message}\n{process.stdout}{process.stderr}"
        self._wait_for_the_cli()

    def _wait_for_the_cli(self) -> None:
        _, survivors = psutil.wait_procs(self.account.cdk_processes(), timeout=SECONDS)
        assert survivors == []

    def _require_lock(self, kill: Kill) -> None:
        account, sagemaker = self.account, self.account.client("sagemaker")
        statuses = account.statuses()
        assert set(statuses) == STACKS, kill
        assert all(status in ("CREATE_COMPLETE", "UPDATE_COMPLETE") for status in statuses.values()), statuses
        assert account.model_data() == account.folder.resolve().model_data_url, kill
        assert sagemaker.describe_endpoint(EndpointName="sentences")["EndpointStatus"] == "InService"
        assert len(sagemaker.list_models()["Models"]) == 1, kill
        assert len(sagemaker.list_endpoint_configs()["EndpointConfigs"]) == 1, kill
        for stack in STACKS:
            summaries = account.client("cloudformation").list_change_sets(StackName=stack)["Summaries"]
            assert [summary for summary in summaries if summary["ExecutionStatus"] == "AVAILABLE"] == [], kill

    def _files(self) -> set[str]:
        """All that lies in the fleet's folder."""
        root = self.account.folder.root
        texts = (str(file.relative_to(root)) for file in root.rglob("*") if file.is_file())
        return {text for text in texts if not text.startswith(UNTIDY) and not text.endswith(".pyc")}
