"""The shipped endpoints by hosting mode, each with a call, and a live set of archives."""

from __future__ import annotations

from typing import Any

import numpy as np

LIVE = """\
endpoint: live-zoo
mode: multi-model
archive_set: live
triton: "25.04"
instance: {type: ml.g5.xlarge}
models:
  - {archive: top-classes, version: 1, repository: ../examples/model_zoo/models/top-classes}
"""
BINARY = "application/vnd.sagemaker-triton.binary+json;json-header-size="
IMAGE = np.full((224, 224, 3), 128, np.uint8)
SENTENCE = {"INPUT0": np.array([["A man is eating food."]], dtype=np.object_)}
MODES: dict[str, tuple[str, dict[str, str], dict[str, Any]]] = {
    "a single model": ("resnet50", {}, {"gpu_0/data_0": np.zeros((1, 3, 224, 224), np.float32)}),
    "a single model, an ensemble": ("sentence-embeddings", {}, SENTENCE),
    "several models": (
        "bert-trt",
        {"target": "bert-3.tar.gz"},
        {name: np.ones((1, 128), np.int32) for name in ("token_ids", "attn_mask")},
    ),
    "several models, ensembles among them": (
        "model-zoo",
        {"target": "image-classes.tar.gz"},
        {"image": IMAGE},
    ),
    "several ensembles": ("gpu-ensembles", {"target": "model-trt-python.tar.gz"}, SENTENCE),
}
"""The shipped endpoint, the model that is called and its inputs."""
