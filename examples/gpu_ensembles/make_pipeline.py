"""Writes the DALI pipeline of the images; it needs the package nvidia-dali-cuda120, as no other script does.

The file is kept in git, as that package has some 400 MB. DALI 1.53 and 2.4 write the same bytes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import nvidia.dali as dali
from nvidia.dali import types
from nvidia.dali._utils import dali_trace

MODEL = Path(__file__).parent / "models/image/dali/1/model.dali"
SIDE = 299
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Of ImageNet's images scaled to 0..1, by channel."""
DEVICE_0 = b"\x40\x00"
"""Field 8 of a PipelineDef, device_id, is 0. Of two such fields the last one counts."""


def pipeline(decoder: str = "mixed") -> bytes:
    """The serialised pipeline; with `decoder="cpu"` all of it runs on the CPU."""

    @dali.pipeline_def(batch_size=3, num_threads=1, device_id=None)
    def images() -> dali.data_node.DataNode:
        images = dali.fn.external_source(device="cpu", name="DALI_INPUT_0")
        images = dali.fn.decoders.image(images, device=decoder, output_type=types.RGB)
        images = dali.fn.resize(images, resize_x=SIDE, resize_y=SIDE)
        return dali.fn.crop_mirror_normalize(
            images,
            dtype=types.FLOAT,
            output_layout="HWC",
            crop=(SIDE, SIDE),
            mean=[255 * channel for channel in MEAN],
            std=[255 * channel for channel in DEVIATION],
        )

    dali_trace.set_tracing(enabled=False)  # it would write the path and the lines of this file
    return bytes(images().serialize())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--into", type=Path, default=MODEL, help="file to write")
    into = parser.parse_args().into
    # DALI names a device only where it finds one; Triton's backend takes its own instance's in any case.
    content = pipeline() + DEVICE_0
    into.write_bytes(content)
    print(f"written: {into}, {len(content)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
