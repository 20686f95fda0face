"""From a picture to what YOLOv5 reads, and from what it answers to boxes, without Triton."""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image

SIDE = 640
GREY = (128, 128, 128)
MIN_SCORE, MAX_OVERLAP, MAX_DETECTIONS = 0.5, 0.45, 1000
Array = np.ndarray[Any, np.dtype[np.float32]]


def letterbox(picture: Image.Image) -> Array:
    """The picture as large as it fits into a square, grey beside it: FP32 [1, 3, 640, 640], 0 to 1."""
    width, height = picture.size
    scale = min(SIDE / width, SIDE / height)
    wide, high = (max(1, int(scale * size)) for size in (width, height))
    box = Image.new("RGB", (SIDE, SIDE), GREY)
    resized = picture.resize((wide, high), Image.Resampling.BILINEAR)
    box.paste(resized, ((SIDE - wide) // 2, (SIDE - high) // 2))
    pixels = np.asarray(box, np.float32) / np.float32(255)
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)[None])


def detections(rows: Array) -> tuple[Array, np.ndarray[Any, np.dtype[np.int64]], Array]:
    """Boxes [n, 4] as x1, y1, x2, y2 in the letterbox, their classes [n] and their scores [n], best first.

    Args:
        rows: YOLOv5's answer [m, 5 + classes]: centre, width, height, objectness, probabilities.
    """
    rows = rows[rows[:, 4] > MIN_SCORE]
    rows = rows[np.isfinite(rows).all(axis=1)]  # JSON has no other numbers
    probabilities = rows[:, 5:] * rows[:, 4:5]
    classes = probabilities.argmax(axis=1)
    scores = probabilities.max(axis=1, initial=0.0)
    half = rows[:, 2:4] / 2
    boxes = np.concatenate([rows[:, :2] - half, rows[:, :2] + half], axis=1)
    found = np.flatnonzero(scores > MIN_SCORE)
    order = found[np.argsort(-scores[found], kind="stable")]
    kept = order[suppress(boxes[order], classes[order])]
    return boxes[kept], classes[kept], scores[kept]


def suppress(boxes: Array, classes: np.ndarray[Any, np.dtype[np.int64]]) -> list[int]:
    """Which boxes to keep of those that are sorted, best first: no two of a class overlap by too much."""
    left, sides, kept = np.arange(len(boxes)), np.ascontiguousarray(boxes.T), list[int]()
    while left.size and len(kept) < MAX_DETECTIONS:
        kept.append(int(left[0]))
        free = (classes != classes[0]) | (overlap(sides[:, 0], sides) <= MAX_OVERLAP)
        free[0] = False
        left, sides, classes = left[free], sides[:, free], classes[free]
    return kept


def overlap(box: Array, others: Array) -> Array:
    """Intersection over union of a box [4] with others [4, n]; 0 where neither has an area."""
    left, top = (np.maximum(box[side], others[side]) for side in (0, 1))
    right, bottom = (np.minimum(box[side], others[side]) for side in (2, 3))
    shared = np.maximum(right - left, 0) * np.maximum(bottom - top, 0)
    union = area(others) + area(box) - shared
    return np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)


def area(box: Array) -> Array:
    width, height = box[2] - box[0], box[3] - box[1]
    return np.asarray(width * height)
