"""A host app whose Model depends on an engine that its deploy has built, in the variants of its tests."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import aws_cdk as cdk
from onnx import helper

from tests.support.engine_bucket import CONFIG, TENSORS, small_onnx
from triton_endpoints import EndpointSupport, Engine, Instance, TritonEndpoint, TritonModel

ENVIRONMENT = cdk.Environment(account="123456789012", region="us-east-1")
UNSUPPORTED_GRAPH = small_onnx(nodes=[helper.make_node("NoSuchOperator", ["x"], ["y"], domain="of.somebody")])


@dataclass(frozen=True)
class Variant:
    """The values in which two deployments differ."""

    config: str = CONFIG + TENSORS
    onnx: bytes = small_onnx()


VARIANTS = {
    "first": Variant(),
    "other-files": Variant(config=CONFIG + TENSORS + "# another comment\n"),
    "unsupported": Variant(onnx=UNSUPPORTED_GRAPH),
}


class Host(cdk.Stack):
    """A support with builds of engines, and one endpoint."""

    def __init__(self, app: cdk.App, folder: Path) -> None:
        super().__init__(app, "Host", env=ENVIRONMENT)
        support = EndpointSupport(self, "Support", environment="lib", image_builds=False)
        engine = Engine(onnx=folder / "bert.onnx", precision="fp16", shapes={"x": ["1x8", "4x8", "8x8"]})
        TritonEndpoint(
            self,
            "Bert",
            endpoint_name="bert",
            triton="25.04",
            support=support,
            instance=Instance(type="ml.g5.xlarge"),
            model=TritonModel.from_asset(folder / "models", engines={"bert": engine}, engine_builds=support),
        )


def synthesize(folder: Path) -> None:
    """Write one cloud assembly for each variant."""
    for name, variant in VARIANTS.items():
        source = folder / f"{name}-source"
        (source / "models/bert").mkdir(parents=True)
        (source / "models/bert/config.pbtxt").write_text(variant.config)
        (source / "bert.onnx").write_bytes(variant.onnx)
        app = cdk.App(outdir=str(folder / name))
        Host(app, source)
        app.synth()


if __name__ == "__main__":
    synthesize(Path(sys.argv[1]))
