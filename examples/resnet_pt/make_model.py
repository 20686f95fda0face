"""Writes a ResNet-50 of a sixteenth of the width as TorchScript; its weights are drawn, not trained.

The blocks are those of torchvision's `resnet50`: He et al., "Deep Residual Learning for Image Recognition",
table 1, with the stride in the 3x3 convolution. What torch 2.13.0 wrote lies in the repository; torch orders
some lines of code as it hashes, so that each run writes other bytes, of the same weights and the same code.
"""

from __future__ import annotations

import argparse
import io
import sys
import zipfile
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

MODEL = Path(__file__).parent / "models/resnet/1/model.pt"
SEED = 50
WIDTH = 4  # of ResNet-50 64; with it the file would be 98 MB
BLOCKS = (3, 4, 6, 3)
EXPANSION, CLASSES = 4, 1000


class Bottleneck(nn.Module):
    """1x1, 3x3 and 1x1 convolutions, and around them what comes in."""

    def __init__(self, into: int, width: int, stride: int) -> None:
        super().__init__()
        out = EXPANSION * width
        self.within = nn.Sequential(
            *convolution(into, width, 1), nn.ReLU(),
            *convolution(width, width, 3, stride), nn.ReLU(),
            *convolution(width, out, 1),
        )  # fmt: skip
        nn.init.constant_(self.within[-1].weight, 0.25)  # or numbers would grow with each of the 16 blocks
        same = stride == 1 and into == out
        self.around = nn.Sequential(*(() if same else convolution(into, out, 1, stride)))

    def forward(self, x: Tensor) -> Tensor:
        """FP32 [n, into, height, width] to [n, 4 * width, height / stride, width / stride]."""
        return torch.relu(self.within(x) + self.around(x))


def convolution(into: int, out: int, size: int, stride: int = 1) -> tuple[nn.Module, nn.Module]:
    """A convolution without bias, and the normalisation after it."""
    return nn.Conv2d(into, out, size, stride, padding=size // 2, bias=False), nn.BatchNorm2d(out)


class ResNet(nn.Module):
    """Images to classes."""

    def __init__(self) -> None:
        super().__init__()
        stem = (*convolution(3, WIDTH, 7, stride=2), nn.ReLU(), nn.MaxPool2d(3, stride=2, padding=1))
        layers, into = list[nn.Module](stem), WIDTH
        for stage, count in enumerate(BLOCKS):
            width = WIDTH * 2**stage
            for block in range(count):
                layers.append(Bottleneck(into, width, stride=2 if stage and block == 0 else 1))
                into = EXPANSION * width
        self.layers = nn.Sequential(*layers)
        self.classes = nn.Linear(into, CLASSES)

    def forward(self, image: Tensor) -> Tensor:
        """FP32 [n, 3, 224, 224] to FP32 [n, 1000]."""
        return self.classes(self.layers(image).mean([2, 3]))


def draw(model: nn.Module) -> None:
    """Weights that keep the spread of what flows through; those of normalisations stay."""
    # RandomState's stream is frozen; drawing evenly needs no function that rounds as the machine does.
    random = np.random.RandomState(SEED)
    for name, weight in model.named_parameters():
        if weight.dim() > 1:
            limit = (6.0 / weight[0].numel()) ** 0.5
            values = limit * (2.0 * random.random_sample(tuple(weight.shape)) - 1.0)
            weight.data = torch.from_numpy(values.astype(np.float32))
        elif name == "classes.bias":
            weight.data.zero_()


def torchscript() -> bytes:
    """The file, without the parts in which torch keeps the paths of the source."""
    model = ResNet().eval()
    draw(model)
    buffer = io.BytesIO()
    torch.jit.save(torch.jit.script(model), buffer)
    content = io.BytesIO()
    with zipfile.ZipFile(buffer) as source, zipfile.ZipFile(content, "w") as target:
        for name in source.namelist():
            if not name.endswith(".debug_pkl"):
                target.writestr(zipfile.ZipInfo(name), source.read(name))
    return content.getvalue()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--into", type=Path, default=MODEL, help="file to write")
    into = parser.parse_args().into
    into.write_bytes(torchscript())
    print(f"written: {into}, {into.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
