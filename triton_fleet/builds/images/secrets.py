"""Secrets in a Dockerfile and its context: whoever may pull the image reads them in its history."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from triton_fleet.builds.images.dockerfile import DOCKERFILE
from triton_fleet.builds.images.inputs import ImageInputs
from triton_fleet.builds.images.instruction import Instruction, assignments
from triton_fleet.builds.images.lines import MAX_SHOWN_CHARACTERS, quote
from triton_fleet.findings import Finding, Severity
from triton_fleet.spec.source import finding_at

SECRET_NAME = re.compile(
    r"(^|_)([a-z]*passwords?|[a-z]*passwd|passphrase|pwd|secrets?|credentials?"
    r"|(access|account|api|encryption|private|secret|signing|storage)_?key)(_|$)"
)
"""Names of secrets, in lower case and with their words separated."""
TOKEN_NAME = re.compile(
    r"(^|_)token$|(^|_)(access|api|auth|bearer|face|gh|github|gitlab|hf|hub|ngc|npm|pypi|session)_token(_|$)"
)
POSSIBLE_TOKEN_NAME = re.compile(r"(^|_)token(_|$)")
TEXT_TOKEN_NAME = re.compile(
    r"(^|_)(bos|cls|end|eos|image|mask|pad|per|sep|special|start|stop|unk)_token(_|$)"
)
"""Names of tokens of a language model's vocabulary."""
DESCRIPTION_NAME = re.compile(
    r"_(arn|budget|count|dir|enabled|endpoint|expiry|file|folder|header|host|id|length|lifetime|limit|manager"
    r"|mode|name|path|policy|port|prefix|region|required|seconds|size|ttl|type|uri|url|version)$|^pwd$"
)
"""Names that describe a secret or where it is kept; PWD alone is the shell's working folder."""
PLACE = re.compile(r"(~|\.{1,2})?/[\w./-]*|(arn|file|s3|https?):.*")
SETTING = re.compile(r"true|false|yes|no|on|off|none|null|[0-9]{1,3}", re.IGNORECASE)
NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")
MAX_NAME_CHARACTERS = 256
"""Characters of a name that are read."""
_NAME_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
SECRET_VALUE = re.compile(
    r"(?<![A-Z0-9])(AKIA|ASIA)[0-9A-Z]{16}(?![A-Z0-9])|\bhf_[A-Za-z0-9]{20,}|\bgh[pousr]_[A-Za-z0-9]{30,}"
    r"|\bgithub_pat_[A-Za-z0-9_]{30,}|\bglpat-[A-Za-z0-9_-]{20,}|\bpypi-[A-Za-z0-9_-]{50,}|\bnvapi-[A-Za-z0-9_-]{30,}"
    r"|\bsk-[A-Za-z0-9_-]{20,}|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----|//[^/\s:@]{1,100}:[^/\s@$]{3,200}@"
)
"""Keys of AWS, Hugging Face, GitHub, GitLab, PyPI, NVIDIA and others, private keys, and passwords in URLs."""
SECRET_FILE = re.compile(
    r"(.*/)?(\.env(\..+)?|\.netrc|\.npmrc|\.pypirc|\.git-credentials|\.dockercfg|\.?kaggle\.json"
    r"|id_(rsa|dsa|ecdsa|ed25519)|.+\.(p12|pfx|jks|ppk)|\.aws/credentials|\.docker/config\.json)",
)
"""Paths of files that hold passwords, tokens or keys."""
EXAMPLE_FILE = re.compile(r".*\.(dist|example|sample|template)")
FILE_REMEDY = (
    "delete it, or list it in .dockerignore: whoever may read the build context or pull the image reads it"
)
REMEDY = (
    "the history of the image keeps it: read it from Secrets Manager when the container runs, or install from"
    " an index that needs no password; revoke what was committed"
)


def check_secrets(inputs: ImageInputs) -> Iterator[Finding]:
    """Names and values in the Dockerfile and in the build arguments of the spec."""
    for instruction in inputs.dockerfile.instructions:
        if SECRET_VALUE.search(instruction.raw):
            message = f"{instruction.keyword} contains a secret in plain text"
            yield _confidential(inputs.finding("FL933", message, instruction.line, REMEDY))
        elif instruction.keyword in ("ARG", "ENV"):
            yield from _check_names(inputs, instruction)
    for name, value in inputs.arguments.items():
        mark, doubt = inputs.argument_mark(name), name_severity(name, value)
        if SECRET_VALUE.search(value) or doubt is Severity.ERROR:
            message = f"the build argument {name} contains a secret in plain text"
            yield _confidential(finding_at(mark, "FL933", message, REMEDY))
        elif doubt and value:
            warning = finding_at(mark, "FL933", f"the build argument {name} looks like a secret", REMEDY)
            yield _confidential(replace(warning, severity=Severity.WARNING))


def check_secret_files(inputs: ImageInputs) -> Iterator[Finding]:
    """Warn of files of the build context that hold keys or passwords, by their names or first bytes."""
    for path, entry in inputs.context.copyable.items():
        if path == DOCKERFILE:  # read line by line
            continue
        is_named = SECRET_FILE.fullmatch(path) and not EXAMPLE_FILE.fullmatch(path)
        if is_named or entry.holds_key:
            description = (
                "which holds a private key" if entry.holds_key else "whose name shows that it holds secrets"
            )
            yield Finding(
                code="FL933",
                message=f"the build context has {quote(path)}, {description}",
                file=inputs.folder / path,
                hint=FILE_REMEDY,
                severity=Severity.WARNING,
            )


def name_severity(name: str, value: str) -> Severity | None:
    """How sure it is that a variable holds a secret, by any word of its name; None for one that does not.

    Without a value it is a warning, as the value is given elsewhere.
    """
    words = "_".join(_NAME_WORDS.findall(name[:MAX_NAME_CHARACTERS])).lower()
    if DESCRIPTION_NAME.search(words) or PLACE.fullmatch(value) or SETTING.fullmatch(value):
        return None
    is_sure = bool(SECRET_NAME.search(words))
    if not is_sure and (TEXT_TOKEN_NAME.search(words) or NUMBER.fullmatch(value)):
        return None
    is_sure = is_sure or bool(TOKEN_NAME.search(words))
    if not is_sure and not POSSIBLE_TOKEN_NAME.search(words):
        return None
    return Severity.ERROR if is_sure and value else Severity.WARNING


def _check_names(inputs: ImageInputs, instruction: Instruction) -> Iterator[Finding]:
    for name, value in assignments(instruction):
        plain = (value or "").strip("\"'")
        severity = name_severity(name, plain)
        if severity is None or (instruction.keyword == "ENV" and not plain):
            continue
        problem = "has a value in plain text" if plain else "asks for a secret as a build argument"
        message = f"{instruction.keyword} {name[:MAX_SHOWN_CHARACTERS]} {problem}"
        yield _confidential(inputs.finding("FL933", message, instruction.line, REMEDY, severity))


def _confidential(secret: Finding) -> Finding:
    return replace(secret, confidential=True)
