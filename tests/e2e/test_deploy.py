"""`fleet deploy`, `fleet ls` and `fleet destroy` with the real CDK, from an empty account to an empty one."""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qs

import pytest

from tests.support.deploy_interruptions import (
    COMPLETE,
    ENDPOINT,
    FOUNDATION,
    INTERRUPTIONS,
    assert_empty_account,
    interrupt,
)
from tests.support.deploys import ACCOUNT, BUCKET, Deploys, action
from tests.support.fleet_folder import LOCK, SPEC
from triton_fleet.aws.deploy.stack_repair import needed_versions
from triton_fleet.catalog.cloudformation import needed_bootstrap

pytestmark = [pytest.mark.cdk, pytest.mark.nightly]


def test_a_deploy_that_is_interrupted_at_each_step_goes_on_when_it_is_run_again(empty_fleet: Deploys) -> None:
    interrupt(empty_fleet, INTERRUPTIONS)


def test_a_stale_lock_is_refused_and_with_locked_deployed_of_which_only_the_release_was_left_to_do(
    empty_fleet: Deploys,
) -> None:
    assert empty_fleet.keys("releases/sentences/") == []
    before, events = empty_fleet.model_data(), empty_fleet.events(ENDPOINT)
    empty_fleet.model("x = 2\n")
    refused_process = empty_fleet.fleet("deploy", "--env", "dev")
    assert refused_process.returncode == 1
    assert "repository/embed/1/model.py: error[stale-lock] FL306: the file changed" in refused_process.stderr
    text = empty_fleet.deploy("--locked")
    assert [line.split("  ")[0] for line in text.splitlines() if line.startswith("✓")] == [
        "✓ check",
        f"✓ account: {ACCOUNT}, us-east-1",
        "✓ cdk synth",
        "✓ cdk bootstrap: nothing to do",
        f"✓ cdk deploy {FOUNDATION}: nothing to do",
        "✓ publish: nothing to do",
        f"✓ cdk deploy {ENDPOINT}: nothing to do",
    ]
    assert (empty_fleet.model_data(), empty_fleet.events(ENDPOINT)) == (before, events)


def test_the_archive_of_another_endpoint_is_not_deployed_by_its_digest(empty_fleet: Deploys) -> None:
    lock = empty_fleet.folder.root / "locks/dev/sentences.lock.yaml"
    text, before, events = lock.read_text(), empty_fleet.keys("endpoints/"), empty_fleet.events(ENDPOINT)
    own, other_text = empty_fleet.keys("archives/")[0].removeprefix("archives/").partition(".")[0], "5" * 64
    empty_fleet.client("s3").put_object(Bucket=BUCKET, Key=f"archives/{other_text}.tar.gz", Body=b"of others")
    lock.write_text(text.replace(own, other_text))
    refused_process = empty_fleet.fleet("deploy", "--env", "dev", "--locked")
    lock.write_text(text)
    empty_fleet.client("s3").delete_object(Bucket=BUCKET, Key=f"archives/{other_text}.tar.gz")
    assert refused_process.returncode == 1
    assert "model_specs/sentences.yaml:" in refused_process.stderr
    assert (
        "error[foreign-archive] FL847: locks/dev/sentences.lock.yaml names sha256:555"
        in refused_process.stderr
    )
    assert (empty_fleet.keys("endpoints/"), empty_fleet.events(ENDPOINT)) == (before, events)


def test_a_deploy_runs_no_command_and_no_module_of_the_fleets_folder(empty_fleet: Deploys) -> None:
    """cdk.json keeps its `context`: the templates, and so the stacks, stay the same."""
    root, events = empty_fleet.folder.root, empty_fleet.events(ENDPOINT)
    settings = json.loads((root / "cdk.json").read_text())
    ran, code = root / "ran", "import pathlib; pathlib.Path(__file__).parent.joinpath('ran').write_text('')\n"
    keys = {
        "app": f"touch {ran}; python3 app.py",
        "build": f"touch {ran}",
        "plugin": [str(root / "plugin.js")],
    }
    empty_fleet.folder.write("plugin.js", f"require('fs').writeFileSync({str(ran)!r}, '')\n")
    empty_fleet.folder.write("cdk.json", json.dumps({**settings, **keys}))
    for name in ("app.py", "aws_cdk.py", "fleet_stacks.py", "yaml.py"):
        empty_fleet.folder.write(name, code + (root / name).read_text() if (root / name).is_file() else code)
    assert f"✓ cdk deploy {ENDPOINT}: nothing to do" in empty_fleet.deploy("--locked")
    assert (ran.exists(), empty_fleet.events(ENDPOINT)) == (False, events)


def test_no_change_set_of_a_deploy_has_a_name_that_one_of_another_clone_has(empty_fleet: Deploys) -> None:
    """The CDK executes one by its name, and its own name is the same for all clones."""
    creations = filter(action("CreateChangeSet"), empty_fleet.proxy.requests)
    creation_queries = [parse_qs(request.body.decode()) for request in creations]
    names = {entry["StackName"][0]: entry["ChangeSetName"][0] for entry in creation_queries}
    assert {name for name, item in names.items() if re.fullmatch("fleet-[0-9a-f]{64}", item)} == {
        FOUNDATION,
        ENDPOINT,
    }


def test_preflight_finds_the_account_ready_and_the_alarm_that_rings(empty_fleet: Deploys) -> None:
    cloudwatch = empty_fleet.client("cloudwatch")
    alarm, *_ = [metric_alarm["AlarmName"] for metric_alarm in cloudwatch.describe_alarms()["MetricAlarms"]]
    cloudwatch.set_alarm_state(AlarmName=alarm, StateValue="ALARM", StateReason="a test")
    process = empty_fleet.fleet("preflight", "--env", "dev")
    cloudwatch.set_alarm_state(AlarmName=alarm, StateValue="OK", StateReason="a test")
    assert process.returncode == 0, process.stderr
    lines = dict(line[2:].split(": ", 1) for line in process.stdout.splitlines())
    assert (lines["endpoint sentences"], lines["alarms sentences"]) == ("InService", f"in ALARM: {alarm}")
    assert lines["foundation"] == f"{FOUNDATION} is in CREATE_COMPLETE"
    assert lines["artifacts sentences"].startswith("1 of 1 in s3://")


def test_preflight_knows_which_bootstrap_the_assembly_needs(empty_fleet: Deploys) -> None:
    needed_version = needed_bootstrap()
    assembly = empty_fleet.folder.root / ".fleet/deploy/dev/cdk.out"
    assert needed_versions(assembly) == {needed_version.parameter: needed_version.version}


def test_nothing_is_left_of_the_interruptions(empty_fleet: Deploys) -> None:
    assert_empty_account(empty_fleet)


def test_an_endpoint_that_fails_is_told_by_its_reason_and_goes_on_as_it_was(empty_fleet: Deploys) -> None:
    before = empty_fleet.model_data()
    empty_fleet.model("x = 3\n")
    empty_fleet.lock()
    empty_fleet.host.failure = "tritonserver stopped: no such backend"
    failed_process = empty_fleet.fleet("deploy", "--env", "dev", "sentences")
    empty_fleet.host.failure = ""
    assert failed_process.returncode == 1
    assert (
        "[stuck-rollback] FL607: continued the rollback of sentences: it serves what it"
        in failed_process.stderr
    )
    assert empty_fleet.statuses()[ENDPOINT] == "UPDATE_ROLLBACK_COMPLETE"
    assert f"FL601: AWS::SageMaker::Endpoint of {ENDPOINT}: " in failed_process.stderr
    assert "no such backend" in failed_process.stderr
    assert (
        "what was served before is still served; the full output of the CDK is in .fleet/deploy/dev/endpoints/sentences.log"
        in failed_process.stderr
    )
    assert "run `fleet doctor sentences --env dev`" in failed_process.stderr
    assert row(failed_process.stdout, f"cdk deploy {ENDPOINT}").split()[3] == "failed:"
    assert empty_fleet.model_data() == before
    assert len(empty_fleet.keys("releases/sentences/")) == 1


def test_without_a_terminal_the_next_deploy_continues_a_rollback_that_stopped_and_says_so(
    empty_fleet: Deploys,
) -> None:
    empty_fleet.model("x = 4\n")
    empty_fleet.lock()
    empty_fleet.fleet("publish", "--env", "dev")
    empty_fleet.host.failure = "tritonserver stopped: no such backend"
    empty_fleet.cdk_deploy(ENDPOINT)
    empty_fleet.host.failure = ""
    assert empty_fleet.statuses()[ENDPOINT] == "UPDATE_ROLLBACK_FAILED"
    empty_fleet.model("x = 1\n")
    empty_fleet.lock()
    text = empty_fleet.deploy("sentences")
    assert "  continued the rollback of sentences: it serves what it served before" in text
    assert f"cdk deploy {ENDPOINT}: its rollback was continued" in text
    assert empty_fleet.statuses()[ENDPOINT] == "UPDATE_ROLLBACK_COMPLETE"
    empty_fleet.model("x = 3\n")
    empty_fleet.lock()


def test_a_new_lock_brings_a_new_model_and_the_previous_one_brings_the_previous_model_back(
    empty_fleet: Deploys,
) -> None:
    first = empty_fleet.model_data()
    text = empty_fleet.deploy()
    assert f"cdk deploy {ENDPOINT}: updated" in text
    assert empty_fleet.model_data() != first
    empty_fleet.model("x = 1\n")
    empty_fleet.lock()
    empty_fleet.model("x = 3\n")
    assert row(empty_fleet.fleet("ls", "--env", "dev").stdout, "sentences").endswith(" models")
    assert "publish: nothing to do" in empty_fleet.deploy("--locked", "sentences")
    assert empty_fleet.model_data() == first
    assert len(empty_fleet.keys("releases/sentences/")) == 3
    history = json.loads(empty_fleet.fleet("history", "sentences", "--env", "dev", "--format", "json").stdout)
    newest, bad, oldest = history["releases"]
    assert [entry["state"] for entry in (newest, bad, oldest)] == ["runs now", "rolled back", "replaced"]
    assert newest["same_as"] == oldest["release"]
    assert bad["changes"][0].startswith("embed/1/model.py ")
    caller = empty_fleet.client("sts").get_caller_identity()["Arn"]
    assert [entry["actor"]["arn"] for entry in (newest, bad, oldest)] == [caller] * 3
    assert len(empty_fleet.client("sagemaker").list_models()["Models"]) == 1


def test_another_account_is_refused_by_both_names(empty_fleet: Deploys) -> None:
    empty_fleet.folder.write(
        "environments/prod.yaml", 'environment: prod\naccount: "999900001111"\nregion: us-east-1\n'
    )
    empty_fleet.folder.write("locks/prod/sentences.lock.yaml", LOCK)
    for command in (["deploy", "--locked"], ["ls"], ["destroy", "sentences", "--yes"]):
        refused_process = empty_fleet.fleet(*command, "--env", "prod")
        assert refused_process.returncode == 1
        assert "FL602: 'prod' is deployed to account 999900001111" in refused_process.stderr
        assert f"these credentials belong to account {ACCOUNT}" in refused_process.stderr
    assert empty_fleet.statuses() == {**COMPLETE, ENDPOINT: "UPDATE_COMPLETE"}


def test_ls_compares_specs_locks_and_stacks_and_names_orphans(empty_fleet: Deploys) -> None:
    empty_fleet.folder.spec(name="idle", base=SPEC.replace("sentences", "idle"))
    empty_fleet.folder.write("locks/dev/gone.lock.yaml", LOCK)
    spec = empty_fleet.folder.root / "model_specs/sentences.yaml"
    output = empty_fleet.fleet("ls", "--env", "dev").stdout
    assert row(output, "sentences") == "sentences ok 1 × ml.g5.xlarge nothing"
    assert row(output, "idle") == "idle no lock - -"
    assert max(map(len, output.splitlines()[:4])) <= 80
    assert "idle: `fleet lock --env dev idle`" in output
    assert "gone: an orphaned lock, without a spec: run `git rm locks/dev/gone.lock.yaml`" in output
    kept_text = spec.read_text()
    spec.write_text(kept_text + "scaling: {min: 1, max: 3, gpu_utilization: 60}\nalarms: {errors: 2%}\n")
    told_output = empty_fleet.fleet("ls", "--env", "dev", "sentences").stdout
    assert row(told_output, "sentences") == "sentences ok 1 × ml.g5.xlarge scaling, alarms, dashboard"
    assert "sentences: `fleet deploy --env dev sentences`" in told_output
    empty_fleet.model("x = 9\n")
    offline = empty_fleet.fleet("ls", "--env", "dev", "--offline", "sentences").stdout
    assert row(offline, "sentences") == "sentences stale lock - -"
    spec.unlink()
    report = empty_fleet.fleet("ls", "--env", "dev").stdout
    assert "sentences: an orphaned stack, without a spec: run `fleet destroy sentences --env dev`" in report
    spec.write_text(kept_text)
    (result,) = [
        entry
        for entry in json.loads(empty_fleet.fleet("ls", "--env", "dev", "--format", "json").stdout)
        if entry["name"] == "sentences"
    ]
    assert (result["spec"], result["runs"], result["live"]["instances"]) == ("yes", "as locked", 1)


def test_destroy_shows_what_goes_and_asks_and_deletes_an_orphan_but_not_its_archives(
    empty_fleet: Deploys,
) -> None:
    (empty_fleet.folder.root / "model_specs/sentences.yaml").unlink()
    unknown = empty_fleet.fleet("destroy", "sentence", "--env", "dev", "--yes")
    assert unknown.returncode == 1
    assert "did you mean `sentences`?" in unknown.stderr
    archives = empty_fleet.keys("")
    process = empty_fleet.fleet("destroy", "sentences", "--env", "dev")
    assert (process.returncode, "pass --yes" in process.stderr) == (2, True)
    assert "the endpoint sentences, which is InService, 1 × ml.g5.xlarge" in process.stdout
    assert "calls in the last hour: 0\n" in process.stdout
    assert "cost a month: 1,013.76 USD\n" in process.stdout
    assert "deleted: 1 × endpoint, 1 × endpoint config, 1 × model, " in process.stdout
    assert f"kept: its archives stay in s3://{BUCKET}/endpoints/sentences/" in process.stdout
    assert ENDPOINT in empty_fleet.statuses()
    assert empty_fleet.fleet("destroy", "sentences", "--env", "dev", "--yes").returncode == 0
    assert empty_fleet.statuses() == {name: status for name, status in COMPLETE.items() if name != ENDPOINT}
    assert empty_fleet.host.removals == ["sentences"]
    assert empty_fleet.keys("") == archives
    second_process = empty_fleet.fleet("destroy", "sentences", "--env", "dev", "--yes")
    assert (second_process.returncode, "nothing to destroy" in second_process.stdout) == (0, True)


def test_foundation_alone_needs_no_lock(empty_fleet: Deploys) -> None:
    empty_fleet.folder.spec()
    (empty_fleet.folder.root / "locks/dev/sentences.lock.yaml").unlink()
    assert empty_fleet.fleet("deploy", "--env", "dev").returncode == 1
    assert f"✓ cdk deploy {FOUNDATION}: nothing to do" in empty_fleet.deploy("--foundation")
    assert empty_fleet.fleet("deploy", "sentences", "--env", "dev", "--foundation").returncode == 2


def row(table: str, endpoint: str) -> str:
    (line,) = [line for line in table.splitlines() if line.startswith(f"{endpoint} ")]
    return " ".join(line.split())
