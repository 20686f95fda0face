"""Rules about secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from triton_fleet.context.context import EndpointContext
from triton_fleet.rules.rule import Problem, rule

KNOWN_SECRET = re.compile(
    r"(HF|HUGGING_FACE_HUB|GITHUB|AWS_SESSION|ACCESS|AUTH|API)_TOKEN$|(^|_)(SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY)$",
    re.IGNORECASE,
)
SECRET_NAME = re.compile(rf"{KNOWN_SECRET.pattern}|^TOKEN$|(^|_)CREDENTIALS$", re.IGNORECASE)
"""Names that may be of secrets; the known ones always are."""
SECRET_VALUE = re.compile(
    r"(AKIA|ASIA)[0-9A-Z]{16}|hf_[A-Za-z0-9]{20,}|gh[pousr]_[A-Za-z0-9]{30,}|sk-[A-Za-z0-9_-]{20,}"
)
KEEP_IT = "keep it in Secrets Manager, give the container its ARN, and revoke what was committed"


def redact(name: str, value: str) -> str:
    """A variable's value as a message may show it."""
    return "a secret" if SECRET_VALUE.search(value) or SECRET_NAME.search(name) else repr(value)


@rule("FL242", source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeModel.html")
def plain_text_secret(endpoint: EndpointContext) -> Iterator[Problem]:
    """The container's environment contains no secret.

    Anyone who may describe the Model or read the template or this file can read it.
    """
    for name, value in endpoint.spec.environment.items():
        path = ("environment", name)
        is_plain = value.strip() and not value.startswith(("arn:", "/")) and not value.isdecimal()
        if SECRET_VALUE.search(value) or (is_plain and KNOWN_SECRET.search(name)):
            yield Problem(path, f"{name} contains a secret in plain text", KEEP_IT, confidential=True)
        elif is_plain and SECRET_NAME.search(name):
            message = f"{name} looks like a secret in plain text"
            yield Problem(path, message, KEEP_IT, certain=False, confidential=True)
