"""The fleet and the account of benchmarks/deploy.py.

The account is an embedded AWS in a process of its own, so that its processor time is not that of a deploy:
`python deploy_account.py KEY SECRET` prints its URL; each line of its input sets for how many seconds an
endpoint starts from then on.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from locked_fleet import ENVIRONMENT, locked_fleet

from fleet_emulator.hosting import DeployedEndpoint, EndpointId
from triton_fleet.awsapi.emulator import Keys, local_session, without_aws

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient

ROOT = Path(__file__).resolve().parents[1]
PROFILE = "deployer"
SPEC = """\
endpoint: NAME
triton: "25.04"
instance: {type: ml.g5.xlarge, count: 1}
models:
  - {archive: NAME, repository: ../repositories/NAME}
"""
CONFIG = 'backend: "python"\n'
CODE = "class TritonPythonModel:\n    name = 'NAME'\n"


class StartingHost:
    """Serves nothing; an endpoint takes `seconds` to start."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def serve(self, endpoint: DeployedEndpoint) -> None:
        """Return when the endpoint would have started."""
        threading.Event().wait(self.seconds)

    def scale(self, id: EndpointId) -> None:
        """Scale nothing."""

    def remove(self, id: EndpointId) -> None:
        """Stop nothing."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Seconds of a command: by the wall, and of the processor with all processes that it started."""

    wall: float
    processor: float


@dataclass(frozen=True, kw_only=True)
class Account:
    """A fleet whose endpoints have locks, and an account that has its Foundation and all archives.

    Attributes:
        root: The fleet's folder.
        names: Its endpoints.
        stdin: The input of the embedded AWS.
        cloudformation: A client of it, whose calls belong to no deploy.
        variables: The environment of commands.
        errors: What commands print.
    """

    root: Path
    names: Sequence[str]
    stdin: IO[str]
    cloudformation: CloudFormationClient
    variables: dict[str, str]
    errors: Path

    def set_start(self, seconds: float) -> None:
        """Let an endpoint take so many seconds to start from now on."""
        print(seconds, file=self.stdin, flush=True)

    def fleet_deploy(self, *arguments: str) -> Cost:
        """`fleet deploy ARGUMENTS`."""
        return self._run("fleet", "deploy", *arguments)

    def cdk_deploy(self, names: Sequence[str], concurrency: int) -> Cost:
        """`cdk deploy --all` of some endpoints, as a user would run it in the fleet's folder."""
        cdk = str(ROOT / "node_modules/.bin/cdk")
        options = ("--concurrency", str(concurrency), "--require-approval", "never", "--progress", "events")
        context = ("-c", "env=dev", "-c", f"endpoints={','.join(names)}")
        return self._run(cdk, "deploy", "--all", *options, *context)

    def change(self, name: str, text: str) -> None:
        """Add keys to the shipped spec of an endpoint, and lock it."""
        spec = self.root / f"model_specs/{name}.yaml"
        spec.write_text(SPEC.replace("NAME", name) + text)
        self._run("fleet", "lock", "--env", "dev", name)

    def delete_endpoints(self, count: int) -> None:
        """Delete the stacks of the first endpoints, all of which must have been deployed."""
        stacks = [f"triton-fleet-dev-{name}" for name in self.names[:count]]
        for stack in stacks:
            (found,) = self.cloudformation.describe_stacks(StackName=stack)["Stacks"]
            if found["StackStatus"] != "CREATE_COMPLETE":
                raise AssertionError(f"{stack}: {found['StackStatus']}")
            self.cloudformation.delete_stack(StackName=stack)
        for stack in stacks:
            self.cloudformation.get_waiter("stack_delete_complete").wait(
                StackName=stack, WaiterConfig={"Delay": 1}
            )

    def _run(self, *command: str) -> Cost:
        """One command.

        Raises:
            AssertionError: it failed; with the end of what it printed.
        """
        begin = time.perf_counter()
        with self.errors.open("w") as output:
            process = subprocess.Popen(
                command,
                cwd=self.root,
                env=self.variables,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise AssertionError(f"{' '.join(command)}: {self.errors.read_text()[-3000:]}")
        return Cost(wall=time.perf_counter() - begin, processor=usage.ru_utime + usage.ru_stime)


@contextmanager
def prepared_account(count: int) -> Iterator[Account]:
    """An account with Foundation and the archives of so many endpoints, none of which is deployed."""
    keys = Keys.random()
    with tempfile.TemporaryDirectory() as name, _aws(keys) as (url, stdin):
        root = _fleet(Path(name) / "fleet", count)
        (Path(name) / "home").mkdir()
        (Path(name) / "aws.ini").write_text(
            f"[profile {PROFILE}]\nregion = us-east-1\naws_access_key_id = {keys.access_key_id}\n"
            f"aws_secret_access_key = {keys.secret_access_key}\n"
        )
        session = local_session("us-east-1", keys)
        account = Account(
            root=root,
            names=[_name(number) for number in range(count)],
            stdin=stdin,
            cloudformation=session.client("cloudformation", endpoint_url=url),
            variables={
                **without_aws(os.environ),
                "HOME": f"{name}/home",
                "AWS_CONFIG_FILE": f"{name}/aws.ini",
                "AWS_PROFILE": PROFILE,
                "AWS_ENDPOINT_URL": url,
                "CDK_DISABLE_CLI_TELEMETRY": "true",
                "JSII_RUNTIME_PACKAGE_CACHE_ROOT": str(Path.home() / ".cache/aws/jsii/package-cache"),
                "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
                "PYTHONDONTWRITEBYTECODE": "",
            },
            errors=Path(name) / "output",
        )
        account.fleet_deploy("--env", "dev", "--foundation")
        account._run("fleet", "publish", "--env", "dev")
        yield account


def _name(number: int) -> str:
    return f"endpoint-{number:02}"


def _fleet(root: Path, count: int) -> Path:
    """A locked fleet of so many endpoints, with what `fleet init` would have written for the CDK."""
    files = {"environments/dev.yaml": ENVIRONMENT}
    for name in map(_name, range(count)):
        files[f"model_specs/{name}.yaml"] = SPEC.replace("NAME", name)
        files[f"repositories/{name}/model/config.pbtxt"] = CONFIG
        files[f"repositories/{name}/model/1/model.py"] = CODE.replace("NAME", name)
    locked_fleet(root, files)
    for file in ("app.py", "cdk.json", "package.json"):
        shutil.copy(ROOT / file, root / file)
    (root / "node_modules").symlink_to(ROOT / "node_modules")
    return root


@contextmanager
def _aws(keys: Keys) -> Iterator[tuple[str, IO[str]]]:
    """An empty embedded AWS: its URL and its input, with which it ends."""
    process = subprocess.Popen(
        [sys.executable, __file__, keys.access_key_id, keys.secret_access_key],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=without_aws(os.environ),
    )
    if process.stdin is None or process.stdout is None:
        raise AssertionError("both are pipes")
    try:
        yield process.stdout.readline().strip(), process.stdin
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()


def _run_aws(key: str, secret: str) -> None:
    from fleet_emulator.server import EmbeddedAws

    host = StartingHost()
    aws = EmbeddedAws(host, keys=Keys(key, secret))
    aws.start()
    print(aws.url, flush=True)
    for line in sys.stdin:
        host.seconds = float(line)
    aws.stop()


if __name__ == "__main__":
    _run_aws(*sys.argv[1:])
