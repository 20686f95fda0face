"""`fleet deploy` of several endpoints at one time, with the real CDK: failures, interruption, quotas."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import psutil
import pytest
from moto.servicequotas.models import servicequotas_backends

from fleet_emulator.quotas.backend import EmbeddedServiceQuotas
from tests.support.deploys import ACCOUNT, REGION, SECONDS, Deploys, action, empty_account
from tests.support.faulty_s3 import Answer
from tests.support.fleet_folder import SPEC
from triton_fleet.project.project import open_project
from triton_fleet.store.lock import write_locks

pytestmark = [pytest.mark.cdk, pytest.mark.nightly]

NAMES = ("first", "second", "third")
OF_TYPE = "ml.g5.xlarge for endpoint usage"
REASON = "tritonserver stopped: no such backend"


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deploys]:
    """Three locked endpoints; the quota of their instance type has room for two."""
    with empty_account(tmp_path_factory.mktemp("deploy") / "fleet") as account:
        root = account.folder.root
        (root / "model_specs/sentences.yaml").unlink()
        (root / "locks/dev/sentences.lock.yaml").unlink()
        for name in NAMES:
            account.folder.spec(name=name, base=SPEC.replace("sentences", name))
        write_locks(open_project(root, "dev"))
        allow(2)
        yield account


def allow(instances: int) -> None:
    """Set the quota of the endpoints' instance type."""
    quotas = servicequotas_backends[ACCOUNT][REGION]
    assert isinstance(quotas, EmbeddedServiceQuotas)
    quotas.put("sagemaker", "L-1", OF_TYPE, instances)


def stack(name: str) -> str:
    return f"triton-fleet-dev-{name}"


def rows(message: str) -> dict[str, str]:
    """The summary: the result of each endpoint's step, without the seconds."""
    table = message[message.index("\nstep ") :].splitlines()
    words = {line.split()[2]: line.split()[3:] for line in table if line.startswith("cdk deploy")}
    return {name: " ".join(words.get(stack(name), ())) for name in NAMES}


def log(account: Deploys, name: str) -> str:
    return (account.folder.root / f".fleet/deploy/dev/{name}.log").read_text()


def test_an_endpoint_that_fails_hides_no_other_and_is_shown_with_its_reason(account: Deploys) -> None:
    account.host.failures["second"] = REASON
    process = account.fleet("deploy", "--env", "dev", "--concurrency", "3")
    assert process.returncode == 1
    assert f"{OF_TYPE}: 2 free, 3 needed: deploys that need them run one after another" in process.stdout
    actual_rows = rows(process.stdout)
    assert actual_rows["first"].startswith("created")
    assert actual_rows["third"].startswith("created")
    assert actual_rows["second"].startswith(f"failed: AWS::SageMaker::Endpoint of {stack('second')}:")
    assert (
        f"error[failed-stack-operation] FL601: AWS::SageMaker::Endpoint of {stack('second')}"
        in process.stderr
    )
    assert REASON in process.stderr
    assert "the full output of the CDK is in .fleet/deploy/dev/endpoints/second.log" in process.stderr
    initial_lines = [line for line in process.stdout.splitlines() if ": started; " in line]
    assert len(initial_lines) == len(NAMES)
    for name in NAMES:
        first, *_ = log(account, f"endpoints/{name}").splitlines()
        assert first.startswith(f"deploy of {stack(name)} by the change set ")


def test_the_next_deploy_does_the_rest_and_deploys_nothing_else(account: Deploys) -> None:
    account.host.failures.clear()
    allow(len(NAMES))
    before = [log(account, f"endpoints/{name}") for name in ("first", "third")]
    actual_rows = rows(account.deploy())
    assert actual_rows["second"].startswith("created")
    assert [actual_rows[name].startswith("nothing to do") for name in ("first", "third")] == [True, True]
    assert [log(account, f"endpoints/{name}") for name in ("first", "third")] == before
    assert [line for line in log(account, "cdk").splitlines() if line.startswith("$ ")][1:] == []


def test_an_interruption_ends_all_and_the_next_deploy_goes_on(account: Deploys) -> None:
    for name in NAMES:
        account.folder.spec("alarms: {errors: 2%}\n", name=name, base=SPEC.replace("sentences", name))
    write_locks(open_project(account.folder.root, "dev"))
    allow(2 * len(NAMES))
    started_names, pair, may_go = [], threading.Event(), threading.Event()

    def withhold(answer: Answer) -> Answer:
        started_names.append(answer)
        if len(started_names) == 2:
            pair.set()
        may_go.wait(SECONDS)
        return answer

    account.proxy.change_answers(
        lambda request: not pair.is_set() and action("ExecuteChangeSet")(request), withhold
    )
    process = account.start_deploy("--concurrency", "2")
    assert pair.wait(SECONDS)
    process.send_signal(signal.SIGTERM)
    text, _ = process.communicate(timeout=SECONDS)
    may_go.set()
    assert process.returncode == 130
    _, survivors = psutil.wait_procs(account.cdk_processes(), timeout=SECONDS)
    assert survivors == []
    results = [result.split()[0] for result in rows(text).values()]
    assert sorted(results) == ["interrupted", "interrupted", "not"], text
    assert "interrupted: run the command again to continue" in text
    account.settle()
    account.deploy()
    assert {account.statuses()[stack(name)] for name in NAMES} == {"UPDATE_COMPLETE"}
