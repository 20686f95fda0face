"""The CDK's own provider of custom resources, as the real CDK CLI deploys it; and a stop in the midst of one."""

from __future__ import annotations

import json
import re
import sys
import threading
from pathlib import Path

import pytest

from tests.support.embedded_app.cdk_cli import CdkCli, synthesise
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.functions import (
    archive,
    custom,
    kinds,
    recorder_requests,
    upload,
    waiting_provider,
)
from tests.support.embedded_app.stacks import Stacks, embedded_aws

pytestmark = pytest.mark.nightly

SECONDS = 60


@pytest.mark.cdk
def test_handlers_behind_cdk_providers_are_deployed_updated_and_destroyed(tmp_path: Path) -> None:
    synthesise("providers.py", tmp_path)
    with embedded_aws() as (aws, _):
        cdk = CdkCli(aws.url, tmp_path, SECONDS)
        cdk("bootstrap", "aws://123456789012/us-east-1")
        cdk("deploy", "--all")
        assert aws.skipped_resources == ()
        greetings = {"plainGreeting": "hello", "waitingGreeting": "hello"}
        assert Stacks(aws).outputs("Using") == greetings
        assert len(recorder_requests(aws, "LooksWaiting")) == 2
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
        while not recorder_requests(aws, "LooksEndless"):
            pause.wait(0.02)
    assert "stack-endless" not in [thread.name for thread in threading.enumerate()]


def test_a_new_start_has_code_of_its_own() -> None:
    for _ in range(2):
        with embedded_aws() as (aws, _):
            code = upload(aws, "recorder.zip", archive())
            assert Stacks(aws).create(
                "once", {**waiting_provider(code, attempts=30), "Once": custom(Id="o")}
            ) == ("CREATE_COMPLETE")
    assert [name for name in sys.modules if re.search(r"\.deployed_[0-9a-f]{64}", name)] == []
