"""A fleet whose environment has an embedded AWS with Foundation's parts for images, and its commands."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from aws_cdk import App

from fleet_emulator.server import EmbeddedAws
from fleet_stacks.fleet_app import add_fleet
from tests.support.embedded_keys import VARIABLES
from tests.support.fleet_folder import FleetFolder
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.project.project import open_project
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.environment import Environment

ACCOUNT = "123456789012"
DEPLOYMENT = Deployment.of(Environment(environment="dev", account=ACCOUNT, region="us-east-1"))
FLEET = str(Path(sys.executable).parent / "fleet")
DOCKERFILE = """\
ARG TRITON_IMAGE
FROM ${TRITON_IMAGE}
ARG GREETING=hello
ENV GREETING=${GREETING}
RUN pip install --no-cache-dir einops==0.8.0
COPY labels.txt /opt/labels.txt
"""
IMAGE = "image: {build: ../images/detector, args: {GREETING: servus}}\n"


@dataclass
class ImageFleet:
    """A folder whose environment has an embedded AWS with Foundation's parts for images."""

    folder: FleetFolder
    aws: EmbeddedAws

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [FLEET, *arguments],
            cwd=self.folder.root,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Run `fleet ARGUMENTS` in the background; it says everything on its output."""
        return subprocess.Popen(
            [FLEET, *arguments],
            cwd=self.folder.root,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    @property
    def _environment(self) -> dict[str, str]:
        return {**os.environ, **VARIABLES, "AWS_ENDPOINT_URL": self.aws.url, "NO_PROXY": "localhost"}

    def succeed(self, *arguments: str) -> str:
        result = self(*arguments)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    def template(self) -> Any:
        """The CDK app's declaration of the endpoint."""
        fleet = resolve_project(open_project(self.folder.root, "dev"))
        app = App(outdir=str(self.folder.root / "cdk.out"))
        add_fleet(app, fleet)
        return app.synth().get_stack_by_name("triton-fleet-dev-sentences").template

    @property
    def lock(self) -> Any:
        return yaml.safe_load((self.folder.root / "locks/dev/sentences.lock.yaml").read_text())

    @property
    def image(self) -> str:
        """The image of the Model in the endpoint's template."""
        resources = self.template()["Resources"].values()
        (model,) = [resource for resource in resources if resource["Type"] == "AWS::SageMaker::Model"]
        return str(model["Properties"]["PrimaryContainer"]["Image"])

    def dockerfile(self, text: str) -> None:
        self.folder.write("images/detector/Dockerfile", text)
