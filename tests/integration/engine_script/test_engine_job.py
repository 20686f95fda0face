"""A SageMaker job that builds an engine is started, followed, and never left alone."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from engine_job.job import START_SECONDS, job_name
from engine_job.sagemaker import GRACE_SECONDS
from engine_request.problems import BuildError, Cancellation
from tests.support.embedded_s3 import BUCKET
from tests.support.engine_builds import EngineStore
from tests.support.engine_jobs import ScriptedSageMaker
from triton_fleet.builds.engines.request import JobKind


@pytest.fixture(autouse=True)
def build_id(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("CODEBUILD_BUILD_ID", "triton-fleet-dev-engines-job:1")
    return "triton-fleet-dev-engines-job:1"


def test_a_processing_job_gets_its_own_inputs_and_is_isolated(store: EngineStore) -> None:
    sagemaker = ScriptedSageMaker(store, volume_key="arn:aws:kms:us-east-1:111122223333:key/k")
    request = sagemaker.request
    sagemaker.store.address(request)
    inputs, outputs = "/opt/ml/processing/input/engine", "/opt/ml/processing/output/engine"
    sagemaker.creates(
        {
            "ProcessingJobName": sagemaker.name,
            "RoleArn": "arn:aws:iam::111122223333:role/engines",
            "StoppingCondition": {"MaxRuntimeInSeconds": 600 + GRACE_SECONDS},
            "Tags": [{"Key": "environment", "Value": "dev"}],
            "NetworkConfig": {"EnableNetworkIsolation": True},
            "ProcessingInputs": [
                {
                    "InputName": "engine",
                    "S3Input": {
                        "S3Uri": f"s3://{BUCKET}/{sagemaker.workspace}input/",
                        "LocalPath": inputs,
                        "S3DataType": "S3Prefix",
                        "S3InputMode": "File",
                        "S3DataDistributionType": "FullyReplicated",
                        "S3CompressionType": "None",
                    },
                }
            ],
            "ProcessingOutputConfig": {
                "Outputs": [
                    {
                        "OutputName": "engine",
                        "S3Output": {
                            "S3Uri": f"s3://{BUCKET}/{sagemaker.workspace}output",
                            "LocalPath": outputs,
                            "S3UploadMode": "EndOfJob",
                        },
                    }
                ]
            },
            "ProcessingResources": {
                "ClusterConfig": {
                    "InstanceCount": 1,
                    "InstanceType": "ml.g4dn.xlarge",
                    "VolumeSizeInGB": 30,
                    "VolumeKmsKeyId": "arn:aws:kms:us-east-1:111122223333:key/k",
                }
            },
            "AppSpecification": {
                "ImageUri": request.image,
                "ContainerEntrypoint": ["python3", f"{inputs}/script.zip", "compile", inputs, outputs],
            },
        }
    )
    sagemaker.is_in("InProgress")
    sagemaker.is_in("Completed")
    sagemaker.run(pause=sagemaker.leaves)


def test_a_training_job_is_isolated_too_and_leaves_files_and_no_archive(store: EngineStore) -> None:
    sagemaker = ScriptedSageMaker(store, "training", instance_type="ml.p4d.24xlarge")
    inputs, outputs = "/opt/ml/input/data/engine", "/opt/ml/model"
    sagemaker.creates(
        {
            "TrainingJobName": sagemaker.name,
            "RoleArn": "arn:aws:iam::111122223333:role/engines",
            "StoppingCondition": {"MaxRuntimeInSeconds": 600 + GRACE_SECONDS},
            "Tags": [{"Key": "environment", "Value": "dev"}],
            "EnableNetworkIsolation": True,
            "AlgorithmSpecification": {
                "TrainingImage": sagemaker.request.image,
                "TrainingInputMode": "File",
                "ContainerEntrypoint": ["python3", f"{inputs}/script.zip", "compile", inputs, outputs],
            },
            "InputDataConfig": [
                {
                    "ChannelName": "engine",
                    "DataSource": {
                        "S3DataSource": {
                            "S3DataType": "S3Prefix",
                            "S3Uri": f"s3://{BUCKET}/{sagemaker.workspace}input/",
                            "S3DataDistributionType": "FullyReplicated",
                        }
                    },
                }
            ],
            "OutputDataConfig": {
                "S3OutputPath": f"s3://{BUCKET}/{sagemaker.workspace}output",
                "CompressionType": "NONE",
            },
            "ResourceConfig": {
                "InstanceCount": 1,
                "InstanceType": "ml.p4d.24xlarge",
                "VolumeSizeInGB": 30,
            },
        }
    )
    sagemaker.is_in("InProgress", SecondaryStatus="Training")
    sagemaker.is_in("Completed", SecondaryStatus="Completed")
    sagemaker.run(pause=sagemaker.leaves)
    assert store.json(sagemaker.request.manifest)["by"] == sagemaker.name


def test_the_log_of_the_job_is_copied_while_it_grows(
    store: EngineStore, capsys: pytest.CaptureFixture[str]
) -> None:
    sagemaker = ScriptedSageMaker(store)
    sagemaker.creates()
    sagemaker.is_in("InProgress")
    sagemaker.is_in("InProgress", "first", "second")
    sagemaker.is_in("Completed", "last")
    sagemaker.run(pause=sagemaker.leaves)
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line in ("first", "second", "last")] == ["first", "second", "last"]


def test_a_log_that_may_not_be_read_is_told_once_and_stops_nothing(
    store: EngineStore, capsys: pytest.CaptureFixture[str]
) -> None:
    sagemaker = ScriptedSageMaker(store)
    sagemaker.creates()
    for status in ("InProgress", "Completed"):
        sagemaker.is_in(status, log_error="AccessDeniedException")
    sagemaker.run(pause=sagemaker.leaves)
    assert capsys.readouterr().err.count("cannot be read now") == 1


def test_an_engine_that_is_there_starts_no_job(store: EngineStore) -> None:
    sagemaker = ScriptedSageMaker(store)
    store.put(sagemaker.request.manifest, b"{}")
    sagemaker.run()


def test_a_request_that_was_sent_twice_follows_the_job_that_runs(store: EngineStore) -> None:
    sagemaker = ScriptedSageMaker(store)
    sagemaker.refuses("create", "ResourceInUse", "Job name must be unique")
    sagemaker.is_in("InProgress")
    sagemaker.is_in("Completed")
    sagemaker.run(pause=sagemaker.leaves)


def test_a_job_of_which_no_answer_says_whether_it_was_started_is_stopped(store: EngineStore) -> None:
    sagemaker = ScriptedSageMaker(store)
    sagemaker.refuses("create", "InternalFailure", "We encountered an error", status=500)
    sagemaker.stops()
    sagemaker.is_in("Stopped")
    with pytest.raises(ClientError, match="InternalFailure"):
        sagemaker.run()


def test_all_tries_of_one_build_name_one_job_and_another_build_another(
    build_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hexadecimal = "0a" * 32
    first = job_name(hexadecimal)
    assert first == job_name(hexadecimal)
    assert first.startswith(f"engine-{hexadecimal[:40]}-")
    assert len(first) <= 63
    monkeypatch.setenv("CODEBUILD_BUILD_ID", f"{build_id}2")
    assert job_name(hexadecimal) != first
    monkeypatch.delenv("CODEBUILD_BUILD_ID")
    assert job_name(hexadecimal) != job_name(hexadecimal), "by hand, each is another"


@pytest.mark.parametrize("kind", ["processing", "training"])
def test_looks_that_are_throttled_are_repeated(store: EngineStore, kind: JobKind) -> None:
    sagemaker = ScriptedSageMaker(store, kind)
    sagemaker.creates()
    for _ in range(3):
        sagemaker.refuses("describe", "ThrottlingException", "Rate exceeded")
    sagemaker.is_in("Completed")
    sagemaker.run(pause=sagemaker.leaves)


def test_a_look_that_is_denied_stops_the_job_and_tells_why(
    store: EngineStore, capsys: pytest.CaptureFixture[str]
) -> None:
    sagemaker = ScriptedSageMaker(store)
    sagemaker.creates()
    sagemaker.refuses("describe", "AccessDeniedException")
    sagemaker.stops()
    sagemaker.refuses("describe", "AccessDeniedException")
    with pytest.raises(ClientError, match="AccessDenied"):
        sagemaker.run()
    assert "AccessDenied" in capsys.readouterr().err


def test_a_quota_that_is_used_up_is_told_by_its_name(store: EngineStore) -> None:
    sagemaker = ScriptedSageMaker(store)
    sagemaker.refuses("create", "ResourceLimitExceeded", "The account-level service limit is 0 Instances")
    with pytest.raises(BuildError, match="service limit is 0") as error:
        sagemaker.run()
    assert error.value.problem.exit_code == 20
    assert "`ml.g4dn.xlarge for processing job usage`" in error.value.remedy


def test_a_job_that_takes_too_long_is_stopped_and_seen_to_end(store: EngineStore) -> None:
    sagemaker = ScriptedSageMaker(store)
    sagemaker.creates()
    for _ in range(4 + (600 + GRACE_SECONDS + START_SECONDS) // 10):  # after 1, 2, 4 and 8 seconds each 10
        sagemaker.is_in("InProgress")
    sagemaker.stops()
    sagemaker.is_in("Stopping")
    sagemaker.is_in("Stopped")
    with pytest.raises(BuildError, match="is stopped") as error:
        sagemaker.run()
    assert error.value.problem.exit_code == 17
    assert 0 <= sagemaker.seconds - (600 + GRACE_SECONDS + START_SECONDS) <= 20


def test_a_build_that_is_cancelled_stops_its_job(store: EngineStore) -> None:
    sagemaker = ScriptedSageMaker(store)
    sagemaker.creates()
    sagemaker.is_in("InProgress")
    sagemaker.stops()
    sagemaker.is_in("Stopped")

    def cancel() -> None:
        raise Cancellation

    with pytest.raises(Cancellation):
        sagemaker.run(pause=cancel)


def test_a_job_that_does_not_stop_is_given_up(store: EngineStore, capsys: pytest.CaptureFixture[str]) -> None:
    sagemaker = ScriptedSageMaker(store)
    sagemaker.creates()
    sagemaker.is_in("InProgress")
    sagemaker.stops()
    for _ in range(18):
        sagemaker.is_in("Stopping")
    pauses = iter([True])

    def cancel_first() -> None:
        if next(pauses, False):
            raise Cancellation

    with pytest.raises(Cancellation):
        sagemaker.run(pause=cancel_first)
    assert "does not stop: it still runs" in capsys.readouterr().err
