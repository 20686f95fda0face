"""SageMaker's two kinds of jobs, as far as a build needs them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine_request.bucket import Bucket
from engine_request.host import CODE, JOB
from engine_request.request import Job, Request

GRACE = 300
"""Seconds that SageMaker lets a job run on after its own time-out, so that it can say what happened."""


@dataclass(frozen=True)
class State:
    """What SageMaker says of a job.

    Attributes:
        status: InProgress, Completed, Failed, Stopping, Stopped.
        detail: A training job's secondary status, which says what an InProgress one does.
        said: Why it failed, and what it left as its last words.
    """

    status: str
    detail: str
    said: str

    @property
    def is_over(self) -> bool:
        """Whether it will not change any more."""
        return self.status in ("Completed", "Failed", "Stopped")


class Jobs:
    """Processing or training jobs; every method raises ClientError or BotoCoreError where AWS refuses.

    Attributes:
        kind: "processing" or "training".
        log_group: Where the jobs write.
    """

    def __init__(self, sagemaker: Any, kind: str) -> None:
        self._sagemaker, self.kind = sagemaker, kind
        self._noun = kind.capitalize()
        self.log_group = f"/aws/sagemaker/{self._noun}Jobs"

    def create(self, name: str, request: Request, job: Job, bucket: Bucket) -> None:
        """Start one that compiles the request's engine."""
        folder = CODE[self.kind]
        script = bucket.url(request.script)
        address = bucket.url(request.manifest).rpartition("/")[0]  # the request lies beside it
        entrypoint = [
            "python3",
            f"{folder}/{request.script.rpartition('/')[2]}",
            "compile",
            f"{address}/request.json",
        ]
        source = {"S3DataType": "S3Prefix", "S3Uri": script, "S3DataDistributionType": "FullyReplicated"}
        cluster: dict[str, Any] = {
            "InstanceType": job.instance_type,
            "InstanceCount": 1,
            "VolumeSizeInGB": job.volume_gb,
        }
        if job.volume_key is not None:
            cluster["VolumeKmsKeyId"] = job.volume_key
        common = {
            f"{self._noun}JobName": name,
            "RoleArn": job.role,
            "StoppingCondition": {"MaxRuntimeInSeconds": request.seconds + GRACE},
            # boto3 does not read the AWS_REGION that SageMaker sets.
            "Environment": {JOB: name, "AWS_DEFAULT_REGION": self._sagemaker.meta.region_name},
            "Tags": [{"Key": key, "Value": value} for key, value in sorted(job.tags.items())],
        }
        if self.kind == "processing":
            local = {"LocalPath": folder, "S3InputMode": "File", "S3CompressionType": "None"}
            self._sagemaker.create_processing_job(
                **common,
                ProcessingInputs=[{"InputName": "code", "S3Input": {**source, **local}}],
                ProcessingResources={"ClusterConfig": cluster},
                AppSpecification={"ImageUri": request.image, "ContainerEntrypoint": entrypoint},
            )
            return
        self._sagemaker.create_training_job(
            **common,
            AlgorithmSpecification={
                "TrainingImage": request.image,
                "TrainingInputMode": "File",
                "ContainerEntrypoint": entrypoint,
            },
            InputDataConfig=[{"ChannelName": "code", "DataSource": {"S3DataSource": source}}],
            OutputDataConfig={"S3OutputPath": f"{address}/job"},  # required; the script writes nothing there
            ResourceConfig=cluster,
        )

    def state(self, name: str) -> State:
        """How it is."""
        describe = getattr(self._sagemaker, f"describe_{self.kind}_job")
        answer = describe(**{f"{self._noun}JobName": name})
        said = (answer.get(key, "") for key in ("FailureReason", "ExitMessage"))
        return State(
            answer[f"{self._noun}JobStatus"],
            answer.get("SecondaryStatus", ""),
            " ".join(part.strip() for part in said if part),
        )

    def stop(self, name: str) -> None:
        """Ask it to end: it gets SIGTERM, and 2 minutes later SIGKILL."""
        stop = getattr(self._sagemaker, f"stop_{self.kind}_job")
        stop(**{f"{self._noun}JobName": name})
