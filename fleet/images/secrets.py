"""Secrets in a Dockerfile: whoever may pull the image reads them, as its history keeps them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from fleet.findings import Finding, Severity
from fleet.images.inputs import ImageInputs
from fleet.images.instruction import Instruction, assignments
from fleet.images.lines import MAX_SHOWN_CHARACTERS
from fleet.spec.source import finding_at

KNOWN_SECRET = re.compile(
    r"(^|_)(SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY|SECRET_KEY|PRIVATE_KEY)$"
    r"|(HF|HUGGING_?FACE(_HUB)?|GITHUB|GITLAB|GH|NPM|PYPI|AWS_SESSION|ACCESS|AUTH|API|BEARER)_TOKEN$",
    re.IGNORECASE,
)
"""Names that are always of secrets."""
POSSIBLE_SECRET = re.compile(r"(^|_)(TOKEN|CREDENTIALS?|PASSPHRASE)$", re.IGNORECASE)
TEXT_TOKEN = re.compile(r"(^|_)(PAD|EOS|BOS|UNK|SEP|CLS|MASK|STOP|SPECIAL)_TOKEN$", re.IGNORECASE)
"""Names of tokens of a language model's vocabulary."""
SECRET_VALUE = re.compile(
    r"(?<![A-Z0-9])(AKIA|ASIA)[0-9A-Z]{16}(?![A-Z0-9])|\bhf_[A-Za-z0-9]{20,}|\bgh[pousr]_[A-Za-z0-9]{30,}"
    r"|\bgithub_pat_[A-Za-z0-9_]{30,}|\bglpat-[A-Za-z0-9_-]{20,}|\bpypi-[A-Za-z0-9_-]{50,}|\bnvapi-[A-Za-z0-9_-]{30,}"
    r"|\bsk-[A-Za-z0-9_-]{20,}|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----|//[^/\s:@]{1,100}:[^/\s@$]{3,200}@"
)
"""Keys of AWS, Hugging Face, GitHub, GitLab, PyPI, NVIDIA and others, private keys, and passwords in URLs."""
REMEDY = (
    "the history of the image keeps it: read it from Secrets Manager when the container runs, or install from"
    " an index that needs no password; revoke what was committed"
)


def check_secrets(inputs: ImageInputs) -> Iterator[Finding]:
    """Names and values in the Dockerfile and in the build arguments of the spec."""
    for instruction in inputs.dockerfile.instructions:
        texts = (instruction.raw, *(each.text for each in instruction.heredocs))
        if any(SECRET_VALUE.search(text) for text in texts):
            message = f"{instruction.keyword} holds a secret in plain text"
            yield _confidential(inputs.finding("FL933", message, instruction.line, REMEDY))
        elif instruction.keyword in ("ARG", "ENV"):
            yield from _check_names(inputs, instruction)
    for name, value in inputs.arguments.items():
        mark = inputs.argument_mark(name)
        if SECRET_VALUE.search(value) or KNOWN_SECRET.search(name):
            message = f"the build argument {name} holds a secret in plain text"
            yield _confidential(finding_at(mark, "FL933", message, REMEDY))
        elif _may_be_secret(name) and value:
            found = finding_at(mark, "FL933", f"the build argument {name} looks like a secret", REMEDY)
            yield _confidential(replace(found, severity=Severity.WARNING))


def _check_names(inputs: ImageInputs, instruction: Instruction) -> Iterator[Finding]:
    for name, value in assignments(instruction):
        is_known = bool(KNOWN_SECRET.search(name))
        if not is_known and not _may_be_secret(name):
            continue
        plain = (value or "").strip("\"'")
        if plain.isdecimal() or plain.startswith("/") or (instruction.keyword == "ENV" and not plain):
            continue
        what = "has a value in plain text" if plain else "asks for a secret as a build argument"
        severity = Severity.ERROR if is_known and plain else Severity.WARNING
        message = f"{instruction.keyword} {name[:MAX_SHOWN_CHARACTERS]} {what}"
        yield _confidential(inputs.finding("FL933", message, instruction.line, REMEDY, severity))


def _may_be_secret(name: str) -> bool:
    return bool(POSSIBLE_SECRET.search(name)) and not TEXT_TOKEN.search(name)


def _confidential(finding: Finding) -> Finding:
    return replace(finding, confidential=True)
