"""The CDK's own provider of custom resources, as the real CDK CLI deploys it; and a stop in the midst of one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from embedded_keys import VARIABLES
from tests.e2e.embedded_app.clients import client
from tests.e2e.embedded_app.functions import archive, asked, custom, kinds, upload, waiting_provider
from tests.e2e.embedded_app.stacks import Stacks, embedded_aws

ROOT = Path(__file__).parents[3]
CLI = ROOT / "node_modules" / ".bin" / "cdk"
APP = ROOT / "tests" / "e2e" / "embedded_app" / "providers.py"
SECONDS = 60


@pytest.mark.cdk
def test_handlers_behind_cdk_providers_are_deployed_updated_and_destroyed(tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    # Not in the CLI's home: jsii unpacks the CDK library once for each.
    subprocess.run([sys.executable, APP, tmp_path], check=True, env=os.environ | {"PATH": path})
    with embedded_aws() as (aws, _):
        environment = {
            "PATH": path,
            "HOME": str(tmp_path),
            "AWS_ENDPOINT_URL": aws.url,
            **VARIABLES,
            "AWS_REGION": "us-east-1",
            "CDK_DISABLE_CLI_TELEMETRY": "1",
        }

        def cdk(*arguments: str, variant: str = "first") -> None:
            options = ["--no-notices", "--require-approval", "never", "--app", str(tmp_path / variant)]
            done = subprocess.run(
                [CLI, *arguments, *options],
                cwd=tmp_path,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
                timeout=SECONDS,
            )
            assert done.returncode == 0, done.stdout

        cdk("bootstrap", "aws://123456789012/us-east-1")
        cdk("deploy", "--all")
        assert aws.skipped == ()
        greetings = {"plainGreeting": "hello", "waitingGreeting": "hello"}
        assert Stacks(aws).outputs("Using") == greetings
        assert len(asked(aws, "LooksWaiting")) == 2
        cdk("deploy", "--all", variant="changed")
        cdk("destroy", "--all", "--force", variant="changed")
        for name in ("plain", "waiting"):
            requests = [("Create", ""), ("Update", name), ("Delete", name)]
            assert kinds(aws, name.title()) == requests
        assert client(aws, "lambda").list_functions()["Functions"] == []


def test_a_stop_ends_the_wait_for_a_resource() -> None:
    pause = threading.Event()
    with embedded_aws() as (aws, _):
        code = upload(aws, "recorder.zip", archive())
        resources = {**waiting_provider(code, attempts=3600), "Endless": custom(Id="e", Never="Create")}
        template = json.dumps({"Resources": resources})
        client(aws, "cloudformation").create_stack(StackName="endless", TemplateBody=template)
        while not asked(aws, "LooksEndless"):
            pause.wait(0.02)
    assert "stack-endless" not in [thread.name for thread in threading.enumerate()]


def test_a_new_start_has_code_of_its_own() -> None:
    for _ in range(2):
        with embedded_aws() as (aws, _):
            code = upload(aws, "recorder.zip", archive())
            assert Stacks(aws).create(
                "once", {**waiting_provider(code, attempts=30), "Once": custom(Id="o")}
            ) == ("CREATE_COMPLETE")
    assert [name for name in sys.modules if ".deployed_" in name] == []
