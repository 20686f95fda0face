"""The figures that trtexec has measured, as its output shows them.

Source: NVIDIA/TensorRT, samples/common/sampleReporting.cpp, printEpilog, in 8.6.1 to 11.0 alike.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

PATTERNS = {
    "queries_per_second": r"Throughput: ([0-9.e+-]+) qps",
    "latency_median_ms": r"\] Latency: .*\bmedian = ([0-9.e+-]+) ms",
    "latency_99_ms": r"\] Latency: .*percentile\(99%\) = ([0-9.e+-]+) ms",
    "gpu_compute_median_ms": r"GPU Compute Time: .*\bmedian = ([0-9.e+-]+) ms",
}


def read_figures(lines: Sequence[str]) -> dict[str, float]:
    """By name, with its unit in the name; what the output does not have is left out."""
    figures = {}
    for name, pattern in PATTERNS.items():
        for line in lines:
            match = re.search(pattern, line)
            if match is not None:
                figures[name] = float(match[1])
    return figures
