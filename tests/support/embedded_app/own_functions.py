"""A host app whose scaled and checked endpoint has a support at first, and functions of its own stack later."""

from __future__ import annotations

import sys
from pathlib import Path

import aws_cdk as cdk

from triton_endpoints import (
    EndpointSupport,
    Input,
    Instance,
    Output,
    Sample,
    Scaling,
    TritonEndpoint,
    TritonModel,
)

ENVIRONMENT = cdk.Environment(account="123456789012", region="us-east-1")
VARIANTS = {
    "first": ("ml.g5.xlarge", True),
    "own": ("ml.g5.xlarge", False),
    "changed": ("ml.g6.xlarge", False),
}
"""The instance type of the scaled endpoint, and whether there is a support."""
SAMPLE = Sample(
    name="five",
    inputs={"IN": Input(datatype="INT32", shape=[1, 1], data=5)},
    outputs={"IN": Output(datatype="INT32", shape=[1, 1], data=5)},
)


def synthesize(folder: Path) -> None:
    """Write one cloud assembly for each variant."""
    for name, (instance_type, has_support) in VARIANTS.items():
        app = cdk.App(outdir=str(folder / name))
        if has_support:
            stack = cdk.Stack(app, "Shared", env=ENVIRONMENT)
            EndpointSupport(stack, "Support", environment="lib", engine_builds=False, image_builds=False)
        TritonEndpoint(
            cdk.Stack(app, "Host", env=ENVIRONMENT),
            "Scaled",
            endpoint_name="scaled",
            triton="25.04",
            environment="lib",
            instance=Instance(type=instance_type),
            model=TritonModel.single("s3://data/model.tar.gz", default_model="same"),
            scaling=Scaling(min=1, max=2).scale_on_invocations(600),
            samples=[SAMPLE],
        )
        app.synth()


if __name__ == "__main__":
    synthesize(Path(sys.argv[1]))
