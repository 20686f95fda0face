"""Starting and stopping the local fleet's background process."""

from __future__ import annotations

import json
import os
import subprocess

import psutil

from triton_fleet.awsapi.emulator import without_aws
from triton_fleet.findings import CannotRunError
from triton_fleet.local.state import LocalState, Supervisor
from triton_fleet.local.supervisor_process import state_problem, supervisor_command, supervisor_process

SECONDS_TO_STOP = 40.0


def start_supervisor(state: LocalState) -> Supervisor:
    """Start the background process with its embedded AWS; return when it accepts requests.

    Raises:
        CannotRunError: it could not start; the reason is its own.
    """
    read, write = os.pipe()
    with os.fdopen(read) as announcement, state.log("supervisor").open("wb") as log:
        process = subprocess.Popen(
            supervisor_command(state.root, write),
            cwd=state.root,
            pass_fds=[write],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=without_aws(os.environ),
        )
        os.close(write)
        try:
            line = announcement.readline()
        except BaseException:
            _end(psutil.Process(process.pid))
            raise
    end_report = {"problem": f"it ended at once; see {state.log('supervisor')}"}
    message = json.loads(line) if line else end_report
    supervisor = None if "problem" in message else state.supervisor()
    if supervisor is None:
        process.wait()
        raise CannotRunError(f"the local fleet could not start: {(end_report | message)['problem']}")
    return supervisor


def stop_supervisor(state: LocalState) -> bool:
    """Stop the background process; whether there was one. Its Tritons end with it, however it ends.

    Raises:
        CannotRunError: a local fleet runs, and the state does not lead to its process; nothing was signalled.
    """
    supervisor, file = state.supervisor(), state.supervisor_file
    if supervisor is None:
        if state.is_running():
            raise state_problem(file, "does not exist", state.root)
        return False
    process = supervisor_process(supervisor.pid, state.root)
    if process is not None:
        _end(process)
    elif state.is_running():
        problem = f"is wrong: it names process {supervisor.pid}, which is not the local fleet's"
        raise state_problem(file, problem, state.root)
    return True


def _end(process: psutil.Process) -> None:
    try:
        process.terminate()
        process.wait(SECONDS_TO_STOP)
    except psutil.TimeoutExpired:
        process.kill()
        process.wait()
    except psutil.NoSuchProcess:
        pass
