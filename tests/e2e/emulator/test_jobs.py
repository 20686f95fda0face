"""The embedded AWS's SageMaker jobs: entrypoints that really run, as processes of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.support.jobs import BUCKET, FOLDER, IMAGE, Jobs, Kind
from tests.support.running_aws import running_aws

KINDS: list[Kind] = ["processing", "training"]
for_both_kinds = pytest.mark.parametrize("kind", KINDS)
HANG = "trap 'echo ended in order; exit 21' TERM; echo running; while :; do sleep 0.05; done"


@pytest.fixture(scope="module")
def jobs() -> Iterator[Jobs]:
    with running_aws() as aws:
        jobs = Jobs.of(aws)
        jobs.put(
            "script/run.sh", 'echo "$1 on $FLEET_STAND_IN_GPU $FLEET_STAND_IN_COMPUTE_CAPABILITY"; ls "$2"'
        )
        jobs.put("script/more/data.txt", "data")
        yield jobs


@for_both_kinds
def test_a_job_runs_its_entrypoint_with_its_inputs_on_the_gpu_of_its_instance(jobs: Jobs, kind: Kind) -> None:
    folder = FOLDER[kind]
    command = ["bash", f"{folder}/run.sh", "hello", f"{folder}/more"]
    name = jobs.start(kind, f"{kind}-runs", command, prefix="script/")
    job, noun = jobs.final_job(kind, name), kind.capitalize()
    assert job[f"{noun}JobStatus"] == "Completed"
    assert "FailureReason" not in job
    assert job[f"{noun}JobArn"].endswith(f":{kind}-job/{name}")
    assert job["CreationTime"] <= job[f"{noun}StartTime"] <= job[f"{noun}EndTime"]
    assert jobs.lines(kind, name) == ["hello on T4 7.5", "data.txt"]


def test_an_input_that_is_one_object_keeps_its_name(jobs: Jobs) -> None:
    entries = ["ls", FOLDER["processing"]]
    name = jobs.start("processing", "one-object", entries, prefix="script/run.sh")
    assert jobs.final_job("processing", name)["ProcessingJobStatus"] == "Completed"
    assert jobs.lines("processing", name) == ["run.sh"]


OUTPUT: dict[Kind, str] = {"processing": "/opt/ml/processing/output", "training": "/opt/ml/model"}


def ends_with_files(jobs: Jobs, kind: Kind, name: str, command: str) -> list[str]:
    """The names that a job's output has in the bucket."""
    survivors = {"S3Uri": f"s3://{BUCKET}/out/{name}", "LocalPath": OUTPUT[kind], "S3UploadMode": "EndOfJob"}
    outputs = {"Outputs": [{"OutputName": "out", "S3Output": survivors}]}
    files = {"S3OutputPath": f"s3://{BUCKET}/out", "CompressionType": "NONE"}
    more = {"ProcessingOutputConfig": outputs} if kind == "processing" else {"OutputDataConfig": files}
    jobs.start(kind, name, ["bash", "-c", command, OUTPUT[kind]], **more)
    jobs.final_job(kind, name)
    contents = jobs.s3.list_objects_v2(Bucket=BUCKET, Prefix=f"out/{name}/").get("Contents", ())
    return [content["Key"].removeprefix(f"out/{name}/") for content in contents]


@for_both_kinds
def test_files_of_an_output_are_uploaded_and_links_to_this_machines_files_are_not(
    jobs: Jobs, kind: Kind
) -> None:
    command = "cd $0 && mkdir b && echo 1 > a && echo 2 > b/c && ln -s /etc/passwd d && ln -s /etc e"
    below = "" if kind == "processing" else "output/model/"
    assert ends_with_files(jobs, kind, f"{kind}-leaves", command) == [f"{below}a", f"{below}b/c"]


@for_both_kinds
def test_a_job_that_fails_uploads_nothing(jobs: Jobs, kind: Kind) -> None:
    assert ends_with_files(jobs, kind, f"{kind}-fails-late", "echo 1 > $0/a; exit 1") == []


@for_both_kinds
def test_an_isolated_job_has_neither_credentials_nor_an_address_of_aws(jobs: Jobs, kind: Kind) -> None:
    isolated = {"EnableNetworkIsolation": True}
    names = ["bash", "-c", "echo none; env | grep -E '^(AWS|ECS)' || true"]
    request = {"NetworkConfig": isolated} if kind == "processing" else isolated
    name = jobs.start(kind, f"{kind}-isolated", names, **request)
    jobs.final_job(kind, name)
    assert jobs.lines(kind, name) == ["none"]
    other_text = jobs.start(kind, f"{kind}-open", names)
    jobs.final_job(kind, other_text)
    assert any(line.startswith("AWS_ENDPOINT_URL=") for line in jobs.lines(kind, other_text))


@for_both_kinds
def test_an_entrypoint_that_fails_tells_why_in_the_jobs_status(jobs: Jobs, kind: Kind) -> None:
    words = "echo 'wrong GPU' | tee $0/message > $0/failure; exit 11"
    name = jobs.start(kind, f"{kind}-fails", ["bash", "-c", words, "/opt/ml/output"])
    job = jobs.final_job(kind, name)
    assert job[f"{kind.capitalize()}JobStatus"] == "Failed"
    assert job["FailureReason"].startswith("AlgorithmError: ")
    assert job["FailureReason"].endswith("exit code: 11")
    exit_message = job["ExitMessage"] if kind == "processing" else job["FailureReason"]
    assert "wrong GPU" in exit_message


@for_both_kinds
def test_a_job_that_is_stopped_may_end_in_order(jobs: Jobs, kind: Kind) -> None:
    name = jobs.start(kind, f"{kind}-stopped", ["bash", "-c", HANG])
    jobs.log_contains(kind, name, "running")
    assert jobs.current_job(kind, name)[f"{kind.capitalize()}JobStatus"] == "InProgress"
    jobs.stop(kind, name)
    assert jobs.final_job(kind, name)[f"{kind.capitalize()}JobStatus"] == "Stopped"
    assert jobs.lines(kind, name)[-1] == "ended in order"
    with pytest.raises(ClientError, match="is Stopped and cannot be stopped"):
        jobs.stop(kind, name)


def test_a_training_job_says_that_it_ran_out_of_time(jobs: Jobs) -> None:
    limit = {"MaxRuntimeInSeconds": 1}
    name = jobs.start("training", "late", ["sleep", "1000"], StoppingCondition=limit)
    job = jobs.final_job("training", name)
    assert (job["TrainingJobStatus"], job["SecondaryStatus"]) == ("Stopped", "MaxRuntimeExceeded")


@pytest.mark.parametrize(
    ("command", "prefix", "reason"),
    [
        (["absent-program"], "", "AlgorithmError: "),
        (["true"], "absent/", f"No S3 objects found under S3 URL s3://{BUCKET}/absent/"),
        (["true"], "hostile/", "leads out of /opt/ml/processing/input/code"),
    ],
)
def test_a_job_that_cannot_begin_fails(jobs: Jobs, command: list[str], prefix: str, reason: str) -> None:
    jobs.put("hostile/../../../../../../outside", "x")
    name = jobs.start("processing", f"cannot-{abs(hash(reason))}", command, prefix=prefix)
    job = jobs.final_job("processing", name)
    assert job["ProcessingJobStatus"] == "Failed"
    assert reason in job["FailureReason"]


def test_the_name_of_a_job_is_not_used_again(jobs: Jobs) -> None:
    jobs.final_job("processing", jobs.start("processing", "used", ["true"]))
    with pytest.raises(ClientError, match="ResourceInUse"):
        jobs.start("processing", "used", ["true"])


@pytest.mark.parametrize(
    ("requested_values", "reason"),
    [
        ({"name": "n" * 64}, "'processingJobName' failed to satisfy constraint: Member must have length"),
        (
            {"cluster": {"InstanceType": "ml.p4d.24xlarge"}},
            "'processingResources.clusterConfig.instanceType' failed to satisfy constraint",
        ),
        ({"cluster": {"VolumeKmsKeyId": "any"}}, "cannot be specified for ml.g4dn.xlarge"),
        ({"cluster": {"InstanceCount": 2}}, "not on several instances"),
        (
            {"NetworkConfig": {"VpcConfig": {"SecurityGroupIds": ["sg-1"], "Subnets": ["subnet-1"]}}},
            "runs no processing job with VpcConfig",
        ),
        ({"ExperimentConfig": {}}, "runs no processing job with ExperimentConfig"),
    ],
)
def test_what_sagemaker_refuses_or_has_no_effect_here_is_refused(
    jobs: Jobs, requested_values: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ClientError, match=reason):
        jobs.start("processing", **{"name": "refused", "command": ["true"], **requested_values})


def test_an_image_without_a_program_is_refused(jobs: Jobs) -> None:
    with pytest.raises(ClientError, match="has no images: a job needs a ContainerEntrypoint"):
        jobs.sagemaker.create_processing_job(
            ProcessingJobName="no-program",
            RoleArn="arn:aws:iam::123456789012:role/any",
            AppSpecification={"ImageUri": IMAGE},
            ProcessingInputs=[],
            ProcessingResources={
                "ClusterConfig": {"InstanceType": "ml.g4dn.xlarge", "InstanceCount": 1, "VolumeSizeInGB": 1}
            },
        )


def test_a_job_that_nobody_started_is_not_found(jobs: Jobs) -> None:
    for ask in (jobs.current_job, jobs.stop):
        with pytest.raises(ClientError, match="Could not find processing job"):
            ask("processing", "absent")
