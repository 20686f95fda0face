"""Starts Triton and nginx, ends with the first of them, and stops without losing a request."""

from __future__ import annotations

import os
import queue
import re
import resource
import signal
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path

from .child import Child
from .log import Log
from .metrics import Publisher
from .nginx_config import CONFIG, READY, ROUTES, SHUTDOWN_SECONDS, NginxPlaces, nginx_config
from .routes import SettingsError
from .settings import Settings
from .triton_client import wait_ready

STOP_SECONDS = 25
"""SageMaker kills a container 30 s after it was asked to stop."""
_SECONDS_FOR_ANSWERS = 2
"""After Triton's death, for the answers that report it."""
_MAX_OPEN_FILES = 8192
_NOBODY = 65534
_ERROR = re.compile(r"[EF]\d{4} |error: ")


def write_files(settings: Settings) -> list[str]:
    """Write what nginx reads; its command line, to which `-t` may be added.

    Raises:
        SettingsError: nginx or njs is not there, or a path cannot be in a configuration.
    """
    folder = settings.places.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    places = NginxPlaces(
        folder=folder,
        js_module=settings.places.js_module_file(),
        port=settings.port,
        triton_port=settings.triton_port,
        metrics_port=settings.metrics_port,
        user=_worker_user(folder),
        workers=len(os.sched_getaffinity(0)),
        open_files=min(_MAX_OPEN_FILES, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),
    )
    try:
        config = nginx_config(
            places, settings.routes, logs_all_requests=settings.logs_all_requests, seconds=settings.seconds
        )
    except ValueError as error:
        raise SettingsError(str(error)) from None
    (folder / READY).unlink(missing_ok=True)
    (folder / ROUTES).write_text(settings.routes.text())
    (folder / CONFIG).write_text(config)
    return [settings.places.nginx_program(), "-p", str(folder), "-e", "stderr", "-c", str(folder / CONFIG)]


def _worker_user(folder: Path) -> str | None:
    """The user of nginx's workers, where root starts it: nobody, if nobody exists and reaches the folder."""
    if os.geteuid() != 0:
        return None
    is_open = all(parent.stat().st_mode & stat.S_IXOTH for parent in folder.parents)
    return "nobody nogroup" if is_open and _has_id("uid_map") and _has_id("gid_map") else "root root"


def _has_id(file: str) -> bool:
    for line in Path("/proc/self", file).read_text().splitlines():
        inside, _, length = map(int, line.split())
        if inside <= _NOBODY < inside + length:
            return True
    return False


class Supervisor:
    """One run of the container."""

    def __init__(self, settings: Settings, log: Log) -> None:
        self._settings, self._log = settings, log
        self._events: queue.SimpleQueue[Child | signal.Signals] = queue.SimpleQueue()
        self._stop_event = threading.Event()
        self._ready = settings.places.folder.absolute() / READY
        self._is_ready = False
        self._publisher: Publisher | None = None

    def run(self) -> int:
        """Serve until a process ends or a signal comes; the exit code of the container.

        Raises:
            SettingsError: see `write_files`.
        """
        nginx_command = write_files(self._settings)
        pass_signals_to(self._events.put)
        children: list[Child] = []
        try:
            nginx = self._start("nginx", nginx_command)
            children.append(nginx)
            triton = self._start("Triton", self._settings.triton_command())
            children.append(triton)
            self._watch()
            event = self._events.get()
            self._stop_event.set()
            self._ready.unlink(missing_ok=True)
            if isinstance(event, Child):
                return self._end_after(event, nginx)
            return self._stop(event, nginx, triton)
        except OSError as error:
            self._log.error(f"the container cannot start: {error}")
            return 1
        finally:
            self._stop_event.set()
            self._ready.unlink(missing_ok=True)
            for child in children:
                child.kill()
                child.wait(2)

    def _start(self, name: str, command: list[str]) -> Child:
        is_nginx = name == "nginx"
        self._log.info(f"starts {' '.join(command)}")
        return Child(
            name,
            command,
            stdout=self._log.request if is_nginx else self._log.triton,
            stderr=self._log.nginx if is_nginx else self._log.triton,
            on_end=self._events.put,
        )

    def _watch(self) -> None:
        settings, start = self._settings, time.monotonic()
        models = settings.routes.models()

        def ready() -> None:
            self._is_ready = True
            self._log.info(f"{len(models)} model versions are ready after {time.monotonic() - start:.1f} s")
            if not self._stop_event.is_set():
                self._ready.touch()

        _in_background(wait_ready, settings.triton_port, models, self._stop_event, ready)
        if settings.namespace is not None:
            if settings.metrics_port is None:
                self._log.error("TRITON_FLEET_METRICS_NAMESPACE is set, but Triton's metrics are not allowed")
            else:
                self._publisher = Publisher(settings.metrics_port, settings.namespace, self._log)
                _in_background(self._publisher.run, self._stop_event)

    def _end_after(self, child: Child, nginx: Child) -> int:
        moment = "" if self._is_ready else " before all models were ready"
        reason = _reason(child)
        self._log.error(f"{child.name} {child.end()}{moment}{f': {reason}' if reason else ''}")
        if child is not nginx:
            nginx.send(signal.SIGQUIT)
            nginx.wait(_SECONDS_FOR_ANSWERS)
        return 1

    def _stop(self, number: signal.Signals, nginx: Child, triton: Child) -> int:
        deadline = time.monotonic() + STOP_SECONDS
        self._log.info(f"{number.name}: new connections are refused, requests in flight are answered")
        nginx.send(signal.SIGQUIT)
        is_drained = nginx.wait(SHUTDOWN_SECONDS + 1)
        if self._publisher is not None:
            self._publisher.publish()
        triton.send(signal.SIGTERM)
        has_ended = triton.wait(deadline - time.monotonic())
        if not is_drained:
            self._log.error("nginx is ended by force: a request is still in flight")
        if not has_ended:
            self._log.error("Triton is ended by force: it has not unloaded its models in time")
        self._log.info("stopped")
        return 0


def _reason(child: Child) -> str:
    """The last line that names an error."""
    errors = [line for line in child.lines if _ERROR.match(line) or "[emerg]" in line]
    return errors[-1] if errors else child.lines[-1] if child.lines else ""


def pass_signals_to(put: Callable[[signal.Signals], None]) -> None:
    """Have another thread call `put` with each SIGTERM and SIGINT that the process gets.

    A handler in Python runs in the main thread, between two of its instructions: a signal that comes just
    before that thread blocks in a call waits until the call returns. The C handler writes to a pipe at once.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: None)

    def read() -> None:
        while number := os.read(reader, 1):
            put(signal.Signals(number[0]))

    _in_background(read)


def _in_background(work: object, *arguments: object) -> None:
    threading.Thread(target=work, args=arguments, daemon=True).start()  # type: ignore[arg-type]
