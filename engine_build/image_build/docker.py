"""Docker's command line: each call ends before the deadline, and a failure has the end of its output."""

from __future__ import annotations

import json
import re
import subprocess
import tarfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any, cast

from engine_request.deadline import Deadline
from engine_request.problems import NOT_BUILT, REFUSED, UNFIT_IMAGE, BuildError, Problem
from engine_request.process import run

QUOTED = 20
"""Lines of a failure's end."""
MOST_PATHS = 100_000
"""Paths in a record, which everybody reads who lists images; fleet/images/facts.py takes no more of them."""


class Docker:
    """The daemon of this build."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline

    def log_in(self, registry: str, password: str) -> None:
        """Log in to a registry of ECR; the password is on no command line.

        Raises:
            BuildError: the registry refuses.
        """
        command = ["login", "--username", "AWS", "--password-stdin", registry]
        done = self._run(*command, text=password)
        if done.returncode:
            raise BuildError(REFUSED, f"{registry} refuses the login: {done.stderr.strip()}")

    def call(self, *arguments: str, problem: Problem = REFUSED) -> None:
        """Run a command whose output goes to the log.

        Raises:
            BuildError: of that problem.
        """
        ended = run(["docker", *arguments], self._deadline)
        if ended.exit_code:
            what = f"docker {arguments[0]} ended with {ended.exit_code}"
            raise BuildError(problem, what, log=[line for line in ended.lines if line.strip()][-QUOTED:])

    def build(self, name: str, folder: str, arguments: dict[str, str], platform: str) -> None:
        """Build an image of the Dockerfile in a folder.

        Raises:
            BuildError: an instruction fails, or the base cannot be pulled.
        """
        given = [part for key, value in arguments.items() for part in ("--build-arg", f"{key}={value}")]
        # SageMaker refuses manifests of the OCI's types, which other outputs may have.
        output = ["--output", "type=docker", "--provenance=false"]
        options = ["--progress", "plain", "--pull", "--platform", platform, "--tag", name, *output]
        self.call("build", *options, *given, folder, problem=NOT_BUILT)

    def inspect(self, name: str) -> dict[str, Any]:
        """What Docker knows of an image.

        Raises:
            BuildError: it does not exist.
        """
        found = json.loads(self._output("image", "inspect", name))
        return cast("dict[str, Any]", found[0])

    def paths(self, name: str, wanted: Sequence[str]) -> list[str]:
        """The beginnings of paths in an image that one of the patterns matches; nothing of the image is run.

        Raises:
            BuildError: Docker refuses, or there are more than a record may have.
        """
        patterns = [re.compile(each) for each in wanted]
        container = self._output("create", name, "serve").strip()
        try:
            with self._stream("export", container) as stream:
                with tarfile.open(fileobj=stream, mode="r|") as tar:
                    found = (pattern.match(member.name) for member in tar for pattern in patterns)
                    paths = set[str]()
                    for match in found:
                        if match and match[0].isprintable():
                            paths.add(match[0])
                            _require_few(paths, name)
                while stream.read(1 << 20):
                    pass  # what is after the end of the tar file
            return sorted(paths)
        except tarfile.TarError as error:
            raise BuildError(REFUSED, f"docker export of {name} breaks off: {error}") from error
        finally:
            self._output("rm", container)

    def _output(self, *arguments: str) -> str:
        done = self._run(*arguments)
        if done.returncode:
            raise BuildError(
                REFUSED, f"docker {arguments[0]} ended with {done.returncode}: {done.stderr.strip()}"
            )
        return done.stdout

    def _run(self, *arguments: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
        what = f"docker {arguments[0]}"
        seconds = self._deadline.left(what)
        try:
            return subprocess.run(
                ["docker", *arguments],
                input=text,
                capture_output=True,
                text=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise self._deadline.passed(what) from error

    @contextmanager
    def _stream(self, *arguments: str) -> Iterator[IO[bytes]]:
        """The output of a command, which is killed at the deadline."""
        what = f"docker {arguments[0]}"
        seconds = self._deadline.left(what)
        with subprocess.Popen(["docker", *arguments], stdout=subprocess.PIPE) as process:
            timer = threading.Timer(seconds, process.kill)
            timer.start()
            try:
                yield cast("IO[bytes]", process.stdout)
                code = process.wait()
            finally:
                timer.cancel()
                process.kill()
        self._deadline.left(what)
        if code:
            raise BuildError(REFUSED, f"{what} ended with {code}")


def _require_few(paths: set[str], name: str) -> None:
    if len(paths) > MOST_PATHS:
        raise BuildError(
            UNFIT_IMAGE,
            f"{name} has more than {MOST_PATHS} files and folders that show what is inside",
            remedy="leave out packages and backends that no model needs",
        )
