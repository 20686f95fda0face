"""A fleet that is deployed by `fleet deploy` to an account, which is an embedded AWS behind a profile."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.host import RecordingHost
from tests.support.embedded_keys import KEYS, PROFILE_KEYS
from tests.support.faulty_s3 import Answer, FaultyS3, Request, faulty_s3
from tests.support.fleet_folder import ROOT, FleetFolder
from tests.synth.shipped_specs import assembly
from triton_fleet.aws.deploy.cdk import Cdk, CdkRun
from triton_fleet.project.project import open_project
from triton_fleet.store.lock import write_locks

ACCOUNT, REGION, PROFILE = "123456789012", "us-east-1", "deployer"
BUCKET = f"triton-fleet-dev-{ACCOUNT}-{REGION}"
SECONDS = 120


@dataclass(frozen=True)
class Deploys:
    """A fleet folder with the CDK app, and the account that its environment `dev` names."""

    folder: FleetFolder
    aws: EmbeddedAws
    host: RecordingHost
    proxy: FaultyS3

    def fleet(self, *arguments: str, profile: str = PROFILE) -> subprocess.CompletedProcess[str]:
        """Run `fleet ARGUMENTS --profile PROFILE` to its end, as somebody whose settings name no account."""
        process = subprocess.run(
            [*_fleet(), *arguments, "--profile", profile],
            cwd=self.folder.root,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
        assert "Traceback" not in process.stderr, process.stderr
        return process

    def deploy(self, *options: str) -> str:
        """Deploy the environment `dev`; what it said."""
        process = self.fleet("deploy", "--env", "dev", *options)
        assert process.returncode == 0, process.stdout + process.stderr
        return process.stdout

    def deploy_stack(self, name: str) -> None:
        """The CDK's part of `deploy` for one stack, from an assembly that this process makes.

        Nothing is published. It takes a quarter of a deploy's processor time.
        """
        run = self.cdk_deploy(name)
        assert run.exit_code == 0, run.output

    def cdk_deploy(self, name: str) -> CdkRun:
        """The same, which may fail."""
        root = self.folder.root / "cdk.out"
        shutil.rmtree(root, ignore_errors=True)
        assembly(self.folder.root, "dev", str(root))
        environment = {**self._environment, "AWS_PROFILE": PROFILE}
        cdk = Cdk(self.folder.root, environment, log=self.folder.root / "cdk.log", where_logs="")
        options = ("--exclusively", "--app", str(root), "--require-approval", "never")
        return cdk.run("deploy", name, *options)

    def interrupt(self, expected_value: Callable[[Request], bool], number: signal.Signals) -> tuple[int, str]:
        """Deploy, and send a signal when a request was done and before it is answered; exit code and output."""
        came, may_go = threading.Event(), threading.Event()

        def withhold(answer: Answer) -> Answer:
            came.set()
            may_go.wait(SECONDS)
            return answer

        def is_first(request: Request) -> bool:
            return not came.is_set() and expected_value(request)

        self.proxy.change_answers(is_first, withhold)
        process = self.start_deploy()

        def tell_its_end() -> None:
            process.wait()
            came.set()

        thread = threading.Thread(target=tell_its_end)
        thread.start()
        came.wait(SECONDS)
        assert process.poll() is None, process.communicate()
        process.send_signal(number)
        may_go.set()
        text, _ = process.communicate(timeout=SECONDS)
        thread.join()
        _, survivors = psutil.wait_procs(self.cdk_processes(), timeout=SECONDS)
        assert survivors == []
        return process.returncode, text

    def start_deploy(self, *options: str) -> subprocess.Popen[str]:
        """Deploy the environment `dev` in the background; it says everything on its output."""
        return self.start("deploy", "--env", "dev", *options)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Run `fleet ARGUMENTS` in the background; it says everything on its output."""
        return subprocess.Popen(
            [*_fleet(), *arguments, "--profile", PROFILE],
            cwd=self.folder.root,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def cdk_processes(self) -> list[psutil.Process]:
        """The CDK CLI's processes of this folder, its app included."""
        result = []
        for process in psutil.process_iter():
            try:
                if Path(process.cwd()).is_relative_to(self.folder.root):
                    result.append(process)
            except (psutil.NoSuchProcess, psutil.AccessDenied):
                continue
        return result

    def client(self, service: str) -> Any:
        return client(self.aws, service)

    def statuses(self) -> dict[str, str]:
        stacks = self.client("cloudformation").describe_stacks()["Stacks"]
        return {stack["StackName"]: stack["StackStatus"] for stack in stacks}

    def settle(self) -> None:
        """Wait for what CloudFormation does in the background."""
        pause = threading.Event()
        while any(self._is_under_way(status) for status in self.statuses().values()):
            pause.wait(0.02)

    def events(self, stack: str) -> int:
        return len(self.client("cloudformation").describe_stack_events(StackName=stack)["StackEvents"])

    def keys(self, prefix: str) -> list[str]:
        """Keys in the artifact bucket, which may not be there yet."""
        s3 = self.client("s3")
        if BUCKET not in [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]]:
            return []
        objects = s3.list_objects_v2(Bucket=BUCKET, Prefix=prefix)
        return [content["Key"] for content in objects.get("Contents", [])]

    def model_data(self) -> str:
        """The model data that the deployed endpoint's Model names."""
        sagemaker = self.client("sagemaker")
        endpoint = sagemaker.describe_endpoint(EndpointName="sentences")
        config = sagemaker.describe_endpoint_config(EndpointConfigName=endpoint["EndpointConfigName"])
        model = sagemaker.describe_model(ModelName=config["ProductionVariants"][0]["ModelName"])
        return str(model["PrimaryContainer"]["ModelDataUrl"])

    def model(self, code: str) -> None:
        """Change the model without a new lock."""
        self.folder.write("repository/embed/1/model.py", f"class TritonPythonModel: {code}")

    def lock(self) -> str:
        """Lock what the repository holds now; the lock's text."""
        project = open_project(self.folder.root, "dev")
        write_locks(project)
        return project.lock_file("sentences").read_text()

    @staticmethod
    def _is_under_way(status: str) -> bool:
        return status.endswith("_IN_PROGRESS") and status != "REVIEW_IN_PROGRESS"

    @property
    def _environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "HOME": str(self.folder.root / "home"),
            "AWS_CONFIG_FILE": str(self.folder.root / "aws.ini"),
            "AWS_ENDPOINT_URL": self.proxy.url,
            "JSII_RUNTIME_PACKAGE_CACHE_ROOT": str(Path.home() / ".cache" / "aws" / "jsii" / "package-cache"),
            "COLUMNS": "150",
            # The CDK's own rules take 3 s of processor time; tests/synth/test_templates.py holds to them.
            "CDK_VALIDATION": "false",
        }


def action(name: str, *words: str) -> Callable[[Request], bool]:
    """Requests of a query API, such as CloudFormation's, whose body has all the words."""
    expected_words = [f"Action={name}", *words]
    return lambda request: all(word in request.body.decode(errors="replace") for word in expected_words)


@contextmanager
def empty_account(root: Path, headers: Mapping[str, str] | None = None) -> Iterator[Deploys]:
    """A fleet of one locked endpoint in a folder, and an account that nobody has used yet.

    With the header of a local fleet it is the account of one, as somebody reaches it with `fleet local env`.
    """
    folder = FleetFolder(root)
    folder.spec()
    folder.write("environments/dev.yaml", f'environment: dev\naccount: "{ACCOUNT}"\nregion: {REGION}\n')
    folder.lock()
    for name in ("app.py", "cdk.json", "package.json"):
        shutil.copy(ROOT / name, root / name)
    (root / "node_modules").symlink_to(ROOT / "node_modules")
    host = RecordingHost()
    aws = EmbeddedAws(host, log=root / "aws.log", keys=KEYS, headers=headers)
    aws.start()
    try:
        with faulty_s3(aws.url) as proxy:
            folder.write("aws.ini", f"[profile {PROFILE}]\n{PROFILE_KEYS}")
            yield Deploys(folder, aws, host, proxy)
    finally:
        aws.stop()


def _fleet() -> list[str]:
    return [str(Path(sys.executable).parent / "fleet")]
