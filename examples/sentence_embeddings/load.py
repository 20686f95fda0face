"""Calls the endpoint for some minutes, by more and fewer callers: its dashboard has something to show.

Usage: load.py [MINUTES], 8 by default. One call in fifty is wrong on purpose. The local fleet's URL and keys
come from the environment that `fleet local env` prints, or from what `fleet local up` has written down.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from math import pi, sin

import numpy as np
from demo import ENDPOINT, SENTENCES, local_runtime

from fleet_client import InferenceError, TritonEndpoint

CALLERS, PAUSE = 4, 0.25
"""At the most; and seconds between two calls of one of them."""
WRONG = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("minutes", type=float, nargs="?", default=8.0, help="8 by default")
    minutes = parser.parse_args().minutes
    began, endpoint = time.monotonic(), TritonEndpoint(ENDPOINT, client=local_runtime())
    end = began + 60 * minutes

    def caller(number: int) -> Counter[str]:
        answers, calls = Counter[str](), 0
        while (moment := time.monotonic()) < end:
            # One wave every four minutes: the first caller always calls, the last one at its top alone.
            if number <= CALLERS * (1 + sin(2 * pi * (moment - began) / 240)) / 2:
                calls += 1
                answers[call(endpoint, calls)] += 1
            time.sleep(PAUSE)
        return answers

    with ThreadPoolExecutor(CALLERS) as callers:
        answers = sum(callers.map(caller, range(CALLERS)), Counter[str]())
    print(", ".join(f"{count} {what}" for what, count in sorted(answers.items())))


def call(endpoint: TritonEndpoint, number: int) -> str:
    """One call of one to three sentences; what became of it."""
    name = "NO_SUCH_INPUT" if number % WRONG == 0 else "INPUT0"
    sentences = SENTENCES[: 1 + number % len(SENTENCES)]
    try:
        endpoint.infer({name: np.array(sentences, dtype=object).reshape(-1, 1)})
    except InferenceError:
        return "refused"
    return "answered"


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted")
