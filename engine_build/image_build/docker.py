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

from engine_request.problems import IMAGE_BUILD_FAILURE, REFUSAL, UNFIT_IMAGE, BuildError, Problem
from engine_request.process import Deadline, run

MAX_LOG_LINES = 20
"""The last lines of a failure."""
MAX_PATHS = 100_000
"""The limit of a record, which each list of images reads, as in facts.py of `triton_fleet/builds/images`."""


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
        process = self._run(*command, text=password)
        if process.returncode:
            raise BuildError(REFUSAL, f"{registry} refuses the login: {process.stderr.strip()}")

    def call(self, *arguments: str, problem: Problem = REFUSAL) -> None:
        """Run a command whose output goes to the log.

        Raises:
            BuildError: of that problem.
        """
        result = run(["docker", *arguments], self._deadline)
        if result.exit_code:
            message = f"docker {arguments[0]} ended with {result.exit_code}"
            log = [line for line in result.lines if line.strip()][-MAX_LOG_LINES:]
            raise BuildError(problem, message, log=log)

    def build(self, name: str, folder: str, arguments: dict[str, str], platform: str) -> None:
        """Build an image of the Dockerfile in a folder.

        Raises:
            BuildError: an instruction fails, or the base cannot be pulled.
        """
        values = [part for key, value in arguments.items() for part in ("--build-arg", f"{key}={value}")]
        # SageMaker refuses manifests of the OCI's types, which other outputs may have.
        output = ["--output", "type=docker", "--provenance=false"]
        options = ["--progress", "plain", "--pull", "--platform", platform, "--tag", name, *output]
        self.call("build", *options, *values, folder, problem=IMAGE_BUILD_FAILURE)

    def inspect(self, name: str) -> dict[str, Any]:
        """The description of an image by Docker.

        Raises:
            BuildError: it does not exist.
        """
        images = json.loads(self._output("image", "inspect", name))
        return cast("dict[str, Any]", images[0])

    def paths(self, name: str, expressions: Sequence[str]) -> list[str]:
        """The beginnings of paths in an image that one of the patterns matches; nothing of the image is run.

        Raises:
            BuildError: Docker refuses, or there are more than a record may have.
        """
        patterns = [re.compile(expression) for expression in expressions]
        container = self._output("create", name, "serve").strip()
        try:
            with self._stream("export", container) as stream:
                with tarfile.open(fileobj=stream, mode="r|") as tar:
                    matches = (pattern.match(member.name) for member in tar for pattern in patterns)
                    paths = set[str]()
                    for match in matches:
                        if match and match[0].isprintable():
                            paths.add(match[0])
                            _require_few(paths, name)
                while stream.read(1 << 20):
                    pass  # the rest after the end of the tar file
            return sorted(paths)
        except tarfile.TarError as error:
            raise BuildError(REFUSAL, f"docker export of {name} breaks off: {error}") from error
        finally:
            self._output("rm", container)

    def _output(self, *arguments: str) -> str:
        process = self._run(*arguments)
        if process.returncode:
            raise BuildError(
                REFUSAL, f"docker {arguments[0]} ended with {process.returncode}: {process.stderr.strip()}"
            )
        return process.stdout

    def _run(self, *arguments: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
        activity = f"docker {arguments[0]}"
        seconds = self._deadline.require_time(activity)
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
            raise self._deadline.time_out(activity) from error

    @contextmanager
    def _stream(self, *arguments: str) -> Iterator[IO[bytes]]:
        """The output of a command, which is killed at the deadline."""
        activity = f"docker {arguments[0]}"
        seconds = self._deadline.require_time(activity)
        with subprocess.Popen(["docker", *arguments], stdout=subprocess.PIPE) as process:
            timer = threading.Timer(seconds, process.kill)
            timer.start()
            try:
                yield cast("IO[bytes]", process.stdout)
                code = process.wait()
            finally:
                timer.cancel()
                process.kill()
        self._deadline.require_time(activity)
        if code:
            raise BuildError(REFUSAL, f"{activity} ended with {code}")


def _require_few(paths: set[str], name: str) -> None:
    if len(paths) > MAX_PATHS:
        raise BuildError(
            UNFIT_IMAGE,
            f"{name} has more than {MAX_PATHS} files and folders that show what is inside",
            remedy="leave out packages and backends that no model needs",
        )
