"""The CDK's CLI never outlives the command that started it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.kills import wait_for
from triton_fleet.aws.deploy.cdk import SETTINGS, Cdk
from triton_fleet.aws.deploy.cdk_toolkit import CdkEndedError
from triton_fleet.findings import CannotRunError

CALLER = """\
import sys
from pathlib import Path
from triton_fleet.aws.deploy.cdk import Cdk
root = Path(sys.argv[1])
Cdk(root, {}, log=root / "cdk.log", where_logs="").run("deploy")
"""
# In place of the CLI: it tells its number, and has a child as the CLI has its app.
ENDLESS = """\
#!/bin/sh
sleep 1000 &
echo "$$ $!" > pids.part
mv pids.part pids
wait
"""


@pytest.fixture
def clone(folder: FleetFolder) -> Path:
    """A folder with a CLI that never ends by itself."""
    folder.write("cdk.json", "{}")
    pins = {"aws-cdk": "1.0", "@aws-cdk/toolkit-lib": "1.0"}
    folder.write("package.json", json.dumps({"devDependencies": pins}))
    folder.write("node_modules/@aws-cdk/toolkit-lib/package.json", '{"version": "1.0"}')
    folder.write("node_modules/aws-cdk/package.json", '{"version": "1.0"}')
    folder.write("node_modules/.bin/cdk", ENDLESS).chmod(0o755)
    return folder.root


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_the_cli_and_its_app_end_with_the_command_however_it_ends(
    clone: Path, number: signal.Signals
) -> None:
    command = subprocess.Popen([sys.executable, "-c", CALLER, str(clone)], stderr=subprocess.DEVNULL)
    pids = wait_for(clone / SETTINGS / "pids", command)
    processes = [psutil.Process(int(pid)) for pid in pids.split()]
    command.send_signal(number)
    command.wait(30)
    _, survivors = psutil.wait_procs([process for process in processes if not is_zombie(process)], timeout=30)
    assert [survivor for survivor in survivors if not is_zombie(survivor)] == []


def test_what_the_cli_says_is_returned_and_logged_with_the_command(clone: Path) -> None:
    cli = clone / "node_modules" / ".bin" / "cdk"
    cli.write_text('#!/bin/sh\necho "said of $1"; echo oops >&2; exit 3\n')
    log = clone / "cdk.log"
    cdk = Cdk(clone, {}, log=log, where_logs="")
    for command in ("synth", "deploy"):
        run = cdk.run(command, "x")
        assert (run.exit_code, run.output) == (3, f"said of {command}\noops\n")
    assert log.read_text() == "$ cdk synth x\nsaid of synth\noops\n$ cdk deploy x\nsaid of deploy\noops\n"


def test_each_thread_has_a_log_of_its_own_and_end_ends_them_all(clone: Path) -> None:
    cli = clone / "node_modules" / ".bin" / "cdk"
    cli.write_text('#!/bin/sh\nsleep 1000 &\necho "$$ $!" > "$2.part"\nmv "$2.part" "$2"\nwait\n')
    cdk = Cdk(clone, {}, log=clone / "cdk.log", where_logs="")
    with ThreadPoolExecutor(2) as pool:
        runs = {
            name: pool.submit(cdk.with_log(clone / "logs" / name, "").run, "deploy", name) for name in "ab"
        }
        words = [wait_for(clone / SETTINGS / name, None).split() for name in runs]
        processes = [psutil.Process(int(pid)) for pids in words for pid in pids]
        cdk.end()
        for run in runs.values():
            with pytest.raises(CdkEndedError):
                run.result()
    _, survivors = psutil.wait_procs([process for process in processes if not is_zombie(process)], timeout=30)
    assert [survivor for survivor in survivors if not is_zombie(survivor)] == []
    assert [(clone / "logs" / name).read_text() for name in runs] == [
        f"$ cdk deploy {name}\n" for name in runs
    ]
    with pytest.raises(CdkEndedError):
        cdk.run("deploy", "c")
    assert not (clone / SETTINGS / "c").exists()


def test_the_cli_gets_the_context_of_the_fleets_cdk_json_and_no_other_key(clone: Path) -> None:
    """It runs `app` and `build`, loads `plugin`, and sends what it is told to send to `caBundlePath` and `proxy`."""
    keys = {"app": "evil", "build": "evil", "plugin": ["evil"], "output": "/", "requireApproval": "never"}
    (clone / "cdk.json").write_text(json.dumps({**keys, "context": {"@aws-cdk/core:x": [True]}}))
    (clone / "cdk.context.json").write_text('{"@aws-cdk/core:y": true}')
    (clone / "node_modules/.bin/cdk").write_text("#!/bin/sh\nls -A\ncat cdk.json\n")
    run = (
        Cdk(clone, {}, log=clone / "logs/cdk.log", where_logs="").with_log(clone / "cdk.log", "").run("synth")
    )
    files, text = run.output.split("\n", 1)
    assert (files, json.loads(text)) == (
        "cdk.json",
        {"context": {"@aws-cdk/core:x": [True]}, "versionReporting": False, "notices": False},
    )


def test_a_fleet_without_cdk_json_is_told_how_to_get_it(clone: Path) -> None:
    (clone / "cdk.json").unlink()
    with pytest.raises(CannotRunError, match=r"cdk\.json does not exist") as refusal:
        Cdk(clone, {}, log=clone / "cdk.log", where_logs="")
    assert "fleet init --upgrade" in refusal.value.remedy


def is_zombie(process: psutil.Process) -> bool:
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True
