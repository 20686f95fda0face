"""SageMaker's jobs of an embedded AWS in a few words."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, Literal

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.clients import client

Kind = Literal["processing", "training"]
BUCKET, IMAGE = "code", "763104351884.dkr.ecr.us-east-1.amazonaws.com/sagemaker-tritonserver:24.09-py3"
FOLDER = {"processing": "/opt/ml/processing/input/code", "training": "/opt/ml/input/data/code"}
ROLE = "arn:aws:iam::123456789012:role/any"


@dataclass
class Jobs:
    """Both kinds of jobs, whose one input is below a prefix of a bucket."""

    sagemaker: Any
    logs: Any
    s3: Any

    @classmethod
    def of(cls, aws: EmbeddedAws) -> Jobs:
        jobs = cls(*(client(aws, name) for name in ("sagemaker", "logs", "s3")))
        jobs.s3.create_bucket(Bucket=BUCKET)
        return jobs

    def put(self, key: str, text: str) -> None:
        self.s3.put_object(Bucket=BUCKET, Key=key, Body=text.encode())

    def start(
        self,
        kind: Kind,
        name: str,
        command: list[str],
        *,
        prefix: str = "",
        cluster: dict[str, Any] | None = None,
        **other_values: Any,
    ) -> str:
        """Start a job; its name."""
        noun = kind.capitalize()
        hardware = {
            "InstanceType": "ml.g4dn.xlarge",
            "InstanceCount": 1,
            "VolumeSizeInGB": 30,
            **(cluster or {}),
        }
        common = {f"{noun}JobName": name, "RoleArn": ROLE, **other_values}
        common.setdefault("StoppingCondition", {"MaxRuntimeInSeconds": 600})
        source = {"S3DataType": "S3Prefix", "S3Uri": f"s3://{BUCKET}/{prefix}"}
        if kind == "processing":
            local = {"LocalPath": FOLDER[kind], "S3InputMode": "File"}
            self.sagemaker.create_processing_job(
                **common,
                AppSpecification={"ImageUri": IMAGE, "ContainerEntrypoint": command},
                ProcessingInputs=[{"InputName": "code", "S3Input": {**source, **local}}] if prefix else [],
                ProcessingResources={"ClusterConfig": hardware},
            )
        else:
            channel = {"ChannelName": "code", "DataSource": {"S3DataSource": source}}
            common.setdefault("OutputDataConfig", {"S3OutputPath": f"s3://{BUCKET}/out"})
            self.sagemaker.create_training_job(
                **common,
                AlgorithmSpecification={
                    "TrainingImage": IMAGE,
                    "TrainingInputMode": "File",
                    "ContainerEntrypoint": command,
                },
                ResourceConfig=hardware,
                **({"InputDataConfig": [channel]} if prefix else {}),
            )
        return name

    def current_job(self, kind: Kind, name: str) -> dict[str, Any]:
        """A job as it is."""
        describe = getattr(self.sagemaker, f"describe_{kind}_job")
        job: dict[str, Any] = describe(**{f"{kind.capitalize()}JobName": name})
        return job

    def stop(self, kind: Kind, name: str) -> None:
        getattr(self.sagemaker, f"stop_{kind}_job")(**{f"{kind.capitalize()}JobName": name})

    def final_job(self, kind: Kind, name: str) -> dict[str, Any]:
        """A job when it is over."""
        pause, noun = threading.Event(), kind.capitalize()
        while (job := self.current_job(kind, name))[f"{noun}JobStatus"] in ("InProgress", "Stopping"):
            pause.wait(0.02)
        return job

    def log_contains(self, kind: Kind, name: str, line: str) -> None:
        """Wait until a job has said a line."""
        pause = threading.Event()
        while line not in self.lines(kind, name):
            pause.wait(0.02)

    def lines(self, kind: Kind, name: str) -> list[str]:
        """The lines of a job, after the note that it runs here."""
        group = f"/aws/sagemaker/{kind.capitalize()}Jobs"
        try:
            log_streams = self.logs.describe_log_streams(logGroupName=group, logStreamNamePrefix=f"{name}/")
        except self.logs.exceptions.ResourceNotFoundException:
            return []
        streams = [log_stream["logStreamName"] for log_stream in log_streams["logStreams"]]
        answer = self.logs.filter_log_events(logGroupName=group, logStreamNames=streams or ["none"])
        return [event["message"] for event in answer["events"]][1:]
