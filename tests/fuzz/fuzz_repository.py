"""A fuzz target: a config.pbtxt as bytes, judged alone, as one model of a repository, and read for its strings.

`python tests/fuzz/fuzz_repository.py --seconds 60 --seed 1` mutates configurations that Triton takes and that it
refuses, says how many inputs it tried, and keeps those that break something.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from tests.fuzz.fuzz_check import HANG, fuzz
from tests.support.config_texts import REFUSED_TEXTS, VALID_TEXTS
from tests.support.corpus import CORPUS
from tests.support.scheduling_texts import REFUSED_SCHEDULING
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.repository.config.judge import config_findings
from triton_fleet.repository.config.message import parsed_config
from triton_fleet.repository.contents import Contents, Entry, EntryKind
from triton_fleet.repository.loading.load_plan import plan_load
from triton_fleet.repository.loading.models import ServingContainer
from triton_fleet.repository.text_format.tree import strings

FILE = Path("repository/resnet/config.pbtxt")
PART = b'backend: "python" input { name: "i" data_type: TYPE_FP32 dims: 1 }'


def one_input(data: bytes, seconds: float = HANG) -> None:
    """Judge a configuration in every way.

    Raises:
        AssertionError: a finding has no place or says nothing; a second run says something else; or it takes too
            long.
        PbtxtError: our reader refuses what protobuf takes.
    """
    began = time.process_time()
    findings = check_repository(data)
    took = time.process_time() - began
    if took > seconds:
        raise AssertionError(f"it takes {took:.1f} s")
    if check_repository(data) != findings:
        raise AssertionError("two runs find different things")
    for finding in findings:
        if not (finding.file and finding.message.strip()):
            raise AssertionError(f"a finding without a place or a message: {finding!r}")
    _read(data)


def check_repository(data: bytes) -> list[Finding]:
    findings = _alone(data)
    for multi_model in (False, True):
        setting = ServingContainer(
            multi_model=multi_model, release="24.10", default_model=None if multi_model else "resnet"
        )
        findings += plan_load(_repository(data), setting).findings
    return findings


def _alone(data: bytes) -> list[Finding]:
    try:
        return list(config_findings(parsed_config(data, FILE), "24.10"))
    except FindingsError as error:
        return list(error.findings)


def _repository(data: bytes) -> Contents:
    texts = {
        "resnet/config.pbtxt": data,
        "a/config.pbtxt": PART,
        "a/1/model.py": data,
        "resnet/1/model.py": data,
    }
    folders = {"resnet", "resnet/1", "a", "a/1"}
    entries = {path: Entry(EntryKind.FOLDER) for path in folders} | {
        path: Entry(EntryKind.FILE, len(text)) for path, text in texts.items()
    }
    return Contents(
        place=Path("repository"), archive=True, entries=dict(sorted(entries.items())), texts=texts
    )


def _read(data: bytes) -> None:
    """As the names of models are, before they are changed."""
    try:
        parsed_config(data, FILE)
    except FindingsError:
        return
    list(strings(data))


def seeds() -> list[bytes]:
    """Inputs that make sense: texts of the tests, and other people's where they are there."""
    texts = [*VALID_TEXTS.values(), *(text for text, *_ in (REFUSED_TEXTS | REFUSED_SCHEDULING).values())]
    return [text.encode() for text in texts] + [file.read_bytes() for file in sorted(CORPUS.glob("*.pbtxt"))]


if __name__ == "__main__":
    sys.exit(fuzz("the judgement of a config.pbtxt", seeds(), one_input))
