"""Stacks are deployed in one process: each has its own log and failure, and none outlives the command."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.kills import wait_for
from triton_fleet.aws.deploy.cdk import SETTINGS, Cdk, CdkRun
from triton_fleet.aws.deploy.cdk_toolkit import PROCESS_END_TEXT, CdkEndedError
from triton_fleet.findings import CannotRunError

CHANGE_SET = "fleet-1"
LATE = ("late", "waits")
"""The first one prints after its end, before which the second one does not end."""
# In place of the CDK's toolkit: what it does with a stack follows from the stack's name.
TOOLKIT = """\
"use strict";
const fs = require("node:fs");
const https = require("node:https");

const begun = new Map();
let spoken;
const speech = new Promise((resolve) => { spoken = resolve; });
const works = {
  async broken() {
    const error = new Error("broken failed: the change set has failed");
    error.cause = new Error("AWS::EarlyValidation: a name is taken");
    throw error;
  },
  async asks(host) {
    for (const code of ["CDK_TOOLKIT_I5060", "CDK_TOOLKIT_I5050"]) {
      const answer = await host.requestResponse({ code, message: "sure?", defaultResponse: true });
      await host.notify({ level: "info", message: `${code}: ${answer}` });
    }
    await host.requestResponse({ code: "CDK_SDK_I1100", message: "MFA token", defaultResponse: "" });
  },
  async dies() {
    process.exit(3);
  },
  async endless() {
    fs.writeFileSync("pids.part", String(process.pid));
    fs.renameSync("pids.part", "pids");
    setInterval(() => {}, 1000);
    await new Promise(() => {});
  },
  async late(host) {
    process.stdout.write("not an event\\n");
    setTimeout(async () => {
      await host.notify({ level: "info", message: "after the end" });
      spoken();
    });
  },
  async waits() {
    await speech;
  },
  async prints() {
    console.log("printed beside the events");
  },
  async calls(_host, { agent }) {
    await new Promise((resolve) => https.get("https://aws.example/", { agent }).on("error", resolve));
  },
};

exports.ExpandStackSelection = { NONE: "none" };
exports.StackSelectionStrategy = { PATTERN_MUST_MATCH_SINGLE: "one" };
exports.StackParameters = { onlyExisting: () => "existing" };
exports.Toolkit = class {
  constructor({ ioHost, color, sdkConfig }) {
    Object.assign(this, { ioHost, color, sdkConfig });
  }

  async fromAssemblyDirectory(folder) {
    return folder;
  }

  async deploy(assembly, { stacks, deploymentMethod, parameters }) {
    const [stack] = stacks.patterns;
    const { changeSetName, importExistingResources } = deploymentMethod;
    const asked = [assembly, stacks.strategy, stacks.expand, changeSetName, importExistingResources, parameters, this.color];
    await this.ioHost.notify({ level: "debug", message: "not shown" });
    await this.ioHost.notify({ level: "info", message: `${stack}: ${asked.join(" ")}` });
    await works[stack]?.(this.ioHost, this.sdkConfig.httpOptions);
    if (stack.startsWith("pair")) {
      begun.set(stack);
      while (begun.size < 2) await new Promise(setImmediate);
      await this.ioHost.notify({ level: "info", message: `${stack} of process ${process.pid}` });
    }
  }
};
"""
CALLER = """\
import sys
from pathlib import Path
from triton_fleet.aws.deploy.cdk import Cdk
root = Path(sys.argv[1])
Cdk(root, {}, log=root / "cdk.log", where_logs="").deploy(root / "cdk.out", "endless", "fleet-1")
"""


@pytest.fixture
def root(folder: FleetFolder) -> Path:
    """A fleet with a stand-in for the toolkit."""
    pins = {"aws-cdk": "1.0", "@aws-cdk/toolkit-lib": "1.0"}
    folder.write("cdk.json", "{}")
    folder.write("package.json", json.dumps({"type": "module", "devDependencies": pins}))
    for name in pins:
        folder.write(f"node_modules/{name}/package.json", '{"version": "1.0"}')
    folder.write("node_modules/@aws-cdk/toolkit-lib/index.js", TOOLKIT)
    return folder.root


@pytest.fixture
def cdk(root: Path) -> Cdk:
    return Cdk(root, {}, log=root / "cdk.log", where_logs="")


def deploy(cdk: Cdk, root: Path, stack: str) -> CdkRun:
    return cdk.with_log(root / "logs" / stack, "").deploy(root / "cdk.out", stack, CHANGE_SET)


def header(stack: str) -> str:
    return f"deploy of {stack} by the change set {CHANGE_SET}\n"


def request(root: Path, stack: str, imports: str = "false") -> str:
    """The call of the toolkit, as the stand-in prints it."""
    return f"{stack}: {root / 'cdk.out'} one none {CHANGE_SET} {imports} existing false\n"


def test_a_stack_is_deployed_alone_by_its_own_change_set_with_the_values_of_its_parameters(
    cdk: Cdk, root: Path
) -> None:
    run = deploy(cdk, root, "first")
    assert (run.exit_code, run.output) == (0, request(root, "first"))
    assert (root / "logs/first").read_text() == header("first") + run.output


def test_a_stack_takes_over_what_exists_only_if_it_is_asked_to(cdk: Cdk, root: Path) -> None:
    run = cdk.deploy(root / "cdk.out", "first", CHANGE_SET, imports=True)
    assert run.output == request(root, "first", imports="true")


def test_what_a_stack_prints_after_its_end_and_what_is_of_no_stack_ends_no_other_deploy(
    cdk: Cdk, root: Path
) -> None:
    with ThreadPoolExecutor() as pool:
        runs = dict(zip(LATE, pool.map(lambda stack: deploy(cdk, root, stack), LATE), strict=True))
    cdk.finish()
    assert {stack: run.exit_code for stack, run in runs.items()} == dict.fromkeys(LATE, 0)
    assert "after the end" in (root / "cdk.log").read_text()
    assert "not an event" in (root / "cdk.log").read_text()
    assert all("after the end" not in run.output for run in runs.values())


def test_stacks_that_are_deployed_at_one_time_share_a_process_and_no_log(cdk: Cdk, root: Path) -> None:
    names = ("pair-one", "pair-two")
    with ThreadPoolExecutor(2) as pool:
        outputs = dict(zip(names, pool.map(lambda name: deploy(cdk, root, name).output, names), strict=True))
    numbers = {output.split()[-1] for output in outputs.values()}
    assert len(numbers) == 1
    for name, output in outputs.items():
        assert output == f"{request(root, name)}{name} of process {numbers.copy().pop()}\n"
        assert (root / "logs" / name).read_text() == header(name) + output


def test_a_stack_that_fails_says_all_reasons_and_stops_no_other(cdk: Cdk, root: Path) -> None:
    run = deploy(cdk, root, "broken")
    reasons = (
        "Error: broken failed: the change set has failed\nError: AWS::EarlyValidation: a name is taken\n"
    )
    assert (run.exit_code, run.output) == (1, request(root, "broken") + reasons)
    assert deploy(cdk, root, "next").exit_code == 0


def test_a_process_that_dies_fails_its_stacks_and_the_next_stack_starts_another(cdk: Cdk, root: Path) -> None:
    run = deploy(cdk, root, "dies")
    assert (run.exit_code, run.output) == (1, request(root, "dies") + PROCESS_END_TEXT)
    assert deploy(cdk, root, "next").exit_code == 0


def test_only_the_reviewed_change_is_confirmed_and_no_code_is_asked_for(cdk: Cdk, root: Path) -> None:
    answers = (
        "CDK_TOOLKIT_I5060: true\nCDK_TOOLKIT_I5050: false\nError: cannot answer 'MFA token': use credentials"
        " that ask for no code, such as those of `aws sso login`\n"
    )
    assert deploy(cdk, root, "asks").output == request(root, "asks") + answers


def test_what_a_package_prints_is_in_the_common_log(cdk: Cdk, root: Path) -> None:
    assert deploy(cdk, root, "prints").exit_code == 0
    assert (root / "cdk.log").read_text() == "printed beside the events\n"


def test_the_process_ends_when_nothing_is_deployed_any_more(cdk: Cdk, root: Path) -> None:
    cdk.finish()
    deploy(cdk, root, "first")
    assert processes_in(root)
    cdk.finish()
    assert not processes_in(root)


def test_end_ends_the_deploys_of_all_threads_and_lets_none_begin(cdk: Cdk, root: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        run: Future[CdkRun] = pool.submit(deploy, cdk, root, "endless")
        wait_for(root / SETTINGS / "pids", None)
        cdk.end()
        with pytest.raises(CdkEndedError):
            run.result()
    assert not processes_in(root)
    with pytest.raises(CdkEndedError):
        deploy(cdk, root, "next")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_the_process_ends_with_the_command_however_it_ends(root: Path, number: signal.Signals) -> None:
    command = subprocess.Popen([sys.executable, "-c", CALLER, str(root)], stderr=subprocess.DEVNULL)
    wait_for(root / SETTINGS / "pids", command)
    remaining_processes = processes_in(root)
    command.send_signal(number)
    command.wait(30)
    assert psutil.wait_procs(remaining_processes, timeout=30)[1] == []


def test_aws_is_called_through_the_proxy_of_the_environment(root: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        url = f"http://127.0.0.1:{proxy.getsockname()[1]}"
        cdk = Cdk(root, {"HTTPS_PROXY": url}, log=root / "cdk.log", where_logs="")
        with ThreadPoolExecutor(1) as pool:
            run = pool.submit(deploy, cdk, root, "calls")
            connection, _ = proxy.accept()
            with connection:
                requested_text = connection.recv(1000).decode()
            assert run.result().exit_code == 0
    assert requested_text.startswith("CONNECT aws.example:443 ")


def test_a_fleet_without_the_toolkit_is_told_how_to_get_it(root: Path) -> None:
    (root / "package.json").write_text('{"devDependencies": {"aws-cdk": "1.0"}}')
    with pytest.raises(CannotRunError, match="does not pin the CDK's toolkit") as refusal:
        Cdk(root, {}, log=root / "cdk.log", where_logs="")
    assert "fleet init --upgrade" in refusal.value.remedy


def processes_in(root: Path) -> list[psutil.Process]:
    """The processes whose working directory is in a fleet."""
    result = []
    for process in psutil.process_iter():
        try:
            if Path(process.cwd()).is_relative_to(root) and process.status() != psutil.STATUS_ZOMBIE:
                result.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return result
