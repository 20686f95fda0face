"""The stand-in for the PyTorch backend knows what is not TorchScript, with or without torch."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from fleet_emulator.hosting import HostingError
from tests.support.triton_models import Starter

pytestmark = pytest.mark.triton

CONFIG = """
platform: "pytorch_libtorch"
input [ { name: "x__0" data_type: TYPE_FP32 dims: [ 2 ] } ]
output [ { name: "y__0" data_type: TYPE_FP32 dims: [ 2 ] } ]
"""


def test_weights_that_torch_save_has_written_are_refused(starter: Starter, tmp_path: Path) -> None:
    version = tmp_path / "repository/weights/1"
    version.mkdir(parents=True)
    (version.parent / "config.pbtxt").write_text(CONFIG)
    with zipfile.ZipFile(version / "model.pt", "w") as archive:
        archive.writestr("archive/data.pkl", b"")
    with pytest.raises(HostingError, match=r"failed locating file constants\.pkl: file not found"):
        starter.start(tmp_path / "repository")
