"""A secret in a Dockerfile or a build argument is found, and never shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.image_builds import SPEC, START, image_findings, image_folder
from triton_fleet.findings import Finding

AWS = f"AKIA{'A1' * 8}"
HUGGING_FACE, GITHUB = f"hf_{'aB3' * 10}", f"ghp_{'aB3' * 12}"


def findings(tmp_path: Path, text: str) -> list[Finding]:
    return image_findings(image_folder(tmp_path, f"{START}{text}\n"))


@pytest.mark.parametrize(
    "text",
    [
        f"RUN aws configure set aws_access_key_id {AWS}",
        f"RUN pip install \\\n  --token {HUGGING_FACE} x",
        f"ENV ANY={GITHUB}",
        f"LABEL a={HUGGING_FACE}",
        "RUN echo -----BEGIN RSA PRIVATE KEY-----",
        "RUN pip install --index-url https://user:pa55word@host/simple x",
        "ENV HF_TOKEN=anything",
        "ENV DB_PASSWORD something",
        "ARG AWS_SECRET_ACCESS_KEY=abc",
        "ARG API_KEY=abc",
        "ENV HF_TOKEN=$HF_TOKEN",
        "ENV DB_PASSWORD_PROD=abc",
        "ENV githubToken=abc",
        "ENV dbPassword=abc",
        "ENV PGPASSWORD=12345678",
        "ENV MYSQL_PWD=abc",
        "ENV TOKEN=abc",
        "ENV HFToken=abc",
        "ENV GITHUB_TOKEN_READ=abc",
        "ENV STRIPE_APIKEY=abc",
        "ENV signingKey2=abc",
        "ARG SECRETS=abc",
    ],
)
def test_a_secret_is_an_error_that_does_not_show_it(tmp_path: Path, text: str) -> None:
    (finding,) = findings(tmp_path, text)
    assert (finding.code, finding.line, finding.severity, finding.confidential) == ("FL933", 3, "error", True)
    assert not any(
        secret in f"{finding.message}{finding.hint}" for secret in (AWS, HUGGING_FACE, GITHUB, "pa55")
    )
    assert "the history of the image keeps it" in finding.hint


@pytest.mark.parametrize("text", ["ARG HF_TOKEN", "ARG NPM_TOKEN=", "ARG CREDENTIALS", "ENV TOKEN_CI=abc"])
def test_what_may_be_one_is_a_warning(tmp_path: Path, text: str) -> None:
    (finding,) = findings(tmp_path, text)
    assert (finding.code, finding.line, finding.severity, finding.confidential) == (
        "FL933",
        3,
        "warning",
        True,
    )


@pytest.mark.parametrize(
    "text",
    [
        "ENV PAD_TOKEN=[PAD] MAX_TOKENS=10 TOKENIZERS_PARALLELISM=false",
        "ENV AWS_WEB_IDENTITY_TOKEN_FILE=/var/token HF_TOKEN=",
        "ENV TOKEN=/run/secrets/token",
        "ENV ACCESS_TOKEN=10",
        "ENV KEYBOARD=us MONKEY=abc PRIMARY_KEY=id COMPASS=x SECRETARY=x",
        "ENV PWD=work PASSWD_FILE=/etc/passwd SECRET_FILE=key.pem TOKEN_URL=https://host/token",
        "ENV DB_SECRET_NAME=prod/db DB_SECRET=arn:aws:secretsmanager:eu-west-1:111122223333:secret:db",
        "ENV AWS_ACCESS_KEY_ID= PASSWORD_LENGTH=long REQUIRE_PASSWORD=true PRICE_PER_TOKEN=0.002",
        "ENV padToken=x IMAGE_TOKEN=<image> maxTokens=many",
        "RUN pip install --index-url https://user:${PASSWORD}@host/simple x",
        "RUN echo disk-scheduler-with-a-very-long-name AKIAN",
    ],
)
def test_what_is_none_is_taken(tmp_path: Path, text: str) -> None:
    assert findings(tmp_path, text) == []


@pytest.mark.parametrize(
    ("name", "value", "severity"),
    [
        ("HF_TOKEN", "x", "error"),
        ("ANY", HUGGING_FACE, "error"),
        ("TOKEN", "x", "error"),
        ("dbPassword", "x", "error"),
        ("TOKEN_CI", "x", "warning"),
    ],
)
def test_one_in_the_spec_is_found_at_its_line(tmp_path: Path, name: str, value: str, severity: str) -> None:
    folder = image_folder(tmp_path, f"{START}ARG FIRST\nRUN echo\n")
    findings = image_findings(folder, arguments={"FIRST": "1", name: value})
    (finding,) = [finding for finding in findings if finding.code == "FL933"]
    assert (finding.file, finding.line, finding.severity, finding.confidential) == (SPEC, 2, severity, True)
    assert value not in finding.message or value == "x"


@pytest.mark.parametrize(
    ("path", "content"),
    [
        (".env", ""),
        ("app/.env.production", ""),
        ("id_ed25519", ""),
        ("ssh/id_rsa", ""),
        (".npmrc", ""),
        ("home/.aws/credentials", ""),
        ("tls/server.pem", "Bag Attributes\n-----BEGIN PRIVATE KEY-----\n"),
        ("any.txt", "-----BEGIN OPENSSH PRIVATE KEY-----\n"),
    ],
)
def test_a_file_of_the_context_that_holds_one_is_a_warning_that_names_it(
    tmp_path: Path, path: str, content: str
) -> None:
    (finding,) = image_findings(image_folder(tmp_path, START, {path: content}))
    assert (finding.code, finding.severity, finding.file) == ("FL933", "warning", tmp_path / path)
    assert path in finding.message


@pytest.mark.parametrize(
    "path", [".env.example", "id_rsa.pub", "ca.pem", "credentials.py", "environment.env.md"]
)
def test_other_files_are_taken(tmp_path: Path, path: str) -> None:
    assert image_findings(image_folder(tmp_path, START, {path: "-----BEGIN CERTIFICATE-----\n"})) == []


def test_one_that_dockerignore_excludes_is_taken(tmp_path: Path) -> None:
    assert image_findings(image_folder(tmp_path, START, {".env": "", ".dockerignore": "#\n.env\n"})) == []
