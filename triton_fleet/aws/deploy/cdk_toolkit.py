"""Deploys stacks by the CDK's own toolkit, in one process of Node.js that ends with the command."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

from triton_fleet.core.files import open_for_owner
from triton_fleet.core.parallel import SECONDS_DEAF
from triton_fleet.process_guard import start_with_guard
from triton_fleet.product.tools import tool_path

SECONDS_TO_END = 5.0


class CdkEndedError(Exception):
    """A process of the CDK was ended by `CdkProcesses.end`, or not started after it."""


@dataclass
class CdkProcesses:
    """The running processes, by process group, and whether no other may start.

    All run in the same folder with the same environment. Threads may start them at one time.
    """

    folder: Path
    environment: Mapping[str, str]
    has_ended: bool = False
    _groups: set[int] = field(default_factory=set)
    _change_signal: threading.Condition = field(default_factory=threading.Condition)

    @contextmanager
    def process(self, command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[bytes]]:
        """Start a command; its process group has ended, or is not to be ended any more, when this is left.

        Args:
            command: what is run.
            options: further arguments of `subprocess.Popen`.

        Raises:
            CdkEndedError: another thread has called `end`.
        """
        with self._change_signal:
            if self.has_ended:
                raise CdkEndedError
            process, guard = start_with_guard(command, cwd=self.folder, env=self.environment, **options)
            self._groups.add(process.pid)
        try:
            yield process
        except BaseException:
            _end(process)
            raise
        finally:
            guard.kill()
            guard.communicate()
            with self._change_signal:
                self._groups.discard(process.pid)
                self._change_signal.notify_all()

    def end(self) -> None:
        """End what runs in any thread, and start nothing more; return when it has ended."""
        with self._change_signal:
            self.has_ended = True
            for number in (signal.SIGTERM, signal.SIGKILL):
                for group in self._groups:
                    _signal(group, number)
                self._change_signal.wait_for(lambda: not self._groups, SECONDS_TO_END)


def _end(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        _signal(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=SECONDS_TO_END)
            break


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, number)


Watch = Callable[[str], None]
PROGRAM = Path(__file__).with_name("deploy_stacks.cjs")
PROCESS_END_TEXT = (
    "the process of the CDK's toolkit ended before the stack was deployed;"
    " what CloudFormation has begun continues without it\n"
)


@dataclass(frozen=True)
class StackDeploy:
    """A stack that is being deployed: its log, its output so far, and in the end whether it failed."""

    log: IO[str]
    output: list[str] = field(default_factory=list)
    has_failed: Future[bool] = field(default_factory=Future)

    def write(self, text: str) -> None:
        """Add to the output."""
        self.output.append(text)
        with suppress(ValueError):  # the log is closed if the thread that waited was interrupted
            self.log.write(text)
            self.log.flush()


class CdkToolkit:
    """Deploys stacks of assemblies; threads may deploy different stacks at one time.

    The process starts with the first stack. One that dies fails the stacks that it was deploying, and the
    next stack starts another.

    Args:
        package: The folder of the toolkit's package.
        processes: Where the process runs, and by which it is ended.
        errors: The log of what the process writes that is not about one stack.
    """

    def __init__(self, package: Path, processes: CdkProcesses, errors: Path) -> None:
        self._package, self._processes, self._errors = package, processes, errors
        self._lock = threading.Lock()
        self._requests: IO[str] | None = None
        self._reader: threading.Thread | None = None
        self._deploys: dict[str, StackDeploy] = {}

    def deploy(
        self,
        assembly: Path,
        stack: str,
        change_set: str,
        log: IO[str],
        *,
        imports: bool = False,
        watch: Watch = lambda _: None,
    ) -> tuple[bool, str]:
        """Deploy a stack by a change set of that name; whether it failed, and the output.

        `imports`: resources that exist under the names of the template become the stack's.
        `watch` is called with the output so far, about every second.

        Raises:
            CdkEndedError: another thread has ended the process.
        """
        request = {"assembly": str(assembly), "stack": stack, "changeSet": change_set, "imports": imports}
        deploy = StackDeploy(log)
        with self._lock:
            if self._processes.has_ended:
                raise CdkEndedError
            self._deploys[stack] = deploy
            if self._requests is None:
                self._requests = self._start()
            with suppress(BrokenPipeError):  # its reader sees the end, and fails the deploy
                self._requests.write(f"{json.dumps(request)}\n")
                self._requests.flush()
        while True:
            with suppress(TimeoutError):
                has_failed = deploy.has_failed.result(SECONDS_DEAF)
                break
            watch("".join(deploy.output))
        if self._processes.has_ended:
            raise CdkEndedError
        return has_failed, "".join(deploy.output)

    def finish(self) -> None:
        """Let the process end by itself, once no stack is deployed any more; return when it has."""
        with self._lock:
            self._close()
        while self._reader is not None and self._reader.is_alive():
            self._reader.join(SECONDS_DEAF)

    def _start(self) -> IO[str]:
        receiver, sender = os.pipe()
        node = shutil.which("node", path=tool_path()) or "node"
        command = [node, str(PROGRAM), str(self._package), str(receiver)]
        self._reader = threading.Thread(target=self._run, args=(command, receiver), daemon=True)
        self._reader.start()
        return os.fdopen(sender, "w", encoding="utf-8")

    def _run(self, command: list[str], receiver: int) -> None:
        """Run one process to its end, and hand its events to the deploys."""
        try:
            with (
                open(self._errors, "ab", opener=open_for_owner) as errors,
                self._processes.process(
                    command, pass_fds=[receiver], stdout=subprocess.PIPE, stderr=errors
                ) as process,
                cast(IO[bytes], process.stdout) as events,
            ):
                os.close(receiver)
                for event in events:
                    self._take(event, errors)
                process.wait()
        except CdkEndedError:
            os.close(receiver)
        finally:
            with self._lock:
                self._close()
                self._requests, deploys, self._deploys = None, self._deploys, {}
            for deploy in deploys.values():
                deploy.write(PROCESS_END_TEXT)
                deploy.has_failed.set_result(True)

    def _close(self) -> None:
        if self._requests is not None:
            with suppress(BrokenPipeError):
                self._requests.close()

    def _take(self, line: bytes, errors: IO[bytes]) -> None:
        """Hand an event to its deploy; what is of none, or comes after its end, goes to the log of errors."""
        try:
            event = json.loads(line)
            stack = event["stack"]
        except (ValueError, TypeError, KeyError):
            event, stack = {}, None
        with self._lock:
            deploy = self._deploys.get(stack) if "failed" not in event else self._deploys.pop(stack, None)
        if deploy is None:
            errors.write(line)
            errors.flush()
            return
        if "text" in event:
            deploy.write(f"{event['text']}\n")
        if "failed" in event:
            deploy.has_failed.set_result(bool(event["failed"]))
