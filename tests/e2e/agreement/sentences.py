"""The one sentence in what the server says to a case, with the names that the case has."""

from __future__ import annotations

import re

from tests.e2e.agreement.server import Verdict
from tests.support.broken_repositories import Case
from triton_fleet.repository.loading.entry_model import ENSEMBLE

BEFORE = re.compile(
    r"^(?:Triton did not start: |creating server: [A-Z][a-z ]+ - |load failed for model '[^']*': "
    r"|failed to load '[^']*', failed to poll from model repository; "
    r"|the config\.pbtxt of model '[^']*' cannot be read: |line \d+:\d+: |\[request id: <id_unknown>\] "
    r"|version -?\d+ is at UNAVAILABLE state: |(?:Internal|Invalid argument|Not found|Unsupported): "
    r"|ensemble '[^']*' depends on '[^']*' which has no loaded version\. Model '[^']*' loading failed with error: "
    r"|TritonModelException: model '[^']*', )"
)
AFTER = re.compile(r" \(log: |\n\nAt:|, searched: | NOTE: | \(config\.pbtxt lies ")
FOLDERS = re.compile(r"/\S+?/model(?:::|/)")
NOT_TRITONS = re.compile(r"\[ONNXRuntimeError\]|^it ended with exit code|^The container ended")
"""What a stand-in says in words of its own, and what is said of a server that ends."""
NAME = re.compile(r'^name: "([^"]+)"', re.MULTILINE)


def sentence(verdict: Verdict, case: Case) -> str:
    """The text that was said, without what comes before and after it, and without paths of this machine."""
    text = FOLDERS.sub("", AFTER.split(verdict.message)[0])
    while text != (rest := BEFORE.sub("", text)):
        text = rest
    return " ".join(text.replace(case.target, _main(case)).split()).rstrip(";. ")


def is_tritons(message: str) -> bool:
    """Whether a sentence is the core's own, which ours should have."""
    return NOT_TRITONS.search(message) is None


def _main(case: Case) -> str:
    """The name of the model that is loaded; on a multi-model endpoint Triton calls it as the archive."""
    files = {path: content.decode("utf-8", "replace") for path, content in case.files.items()}
    at_root = NAME.search(files.get("config.pbtxt", ""))
    if at_root:
        return at_root[1]
    folders = sorted({path.partition("/")[0] for path in files if "/" in path})
    ensembles = [folder for folder in folders if ENSEMBLE.search(files.get(f"{folder}/config.pbtxt", ""))]
    return next(iter([*ensembles, *folders]), "")
