"""No web page that a developer looks at can have the embedded AWS do anything: it runs what builds are told."""

from __future__ import annotations

from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_keys import sign_request

CALL = {
    "Content-Type": "application/x-amz-json-1.1",
    "X-Amz-Target": "CodeBuild_20161006.ListProjects",
}


def browser_answer(
    aws: EmbeddedAws, method: str, path: str, headers: dict[str, str]
) -> tuple[int, list[str]]:
    """The status, and which other origins may read the answer."""
    place = urlsplit(aws.url)
    connection = HTTPConnection(place.hostname or "", place.port)
    body = "{}" if method == "POST" else ""
    try:
        headers = sign_request(method, f"{aws.url}{path}", headers, service="codebuild", body=body)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status, answer.headers.get_all("Access-Control-Allow-Origin", [])
    finally:
        connection.close()


@pytest.mark.parametrize("path", ["/", "/endpoints/any/invocations"])
@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("OPTIONS", {"Access-Control-Request-Method": "POST", "Origin": "http://page.example"}),
        ("POST", {**CALL, "Origin": "http://page.example"}),
        ("POST", {**CALL, "Origin": "null"}),
        ("GET", {"Sec-Fetch-Site": "cross-site"}),
        ("GET", {"Sec-Fetch-Site": "same-origin"}),
    ],
)
def test_what_a_page_has_a_browser_ask_is_refused(
    aws: EmbeddedAws, method: str, headers: dict[str, str], path: str
) -> None:
    assert browser_answer(aws, method, path, headers) == (403, [])


def test_programs_are_answered(aws: EmbeddedAws) -> None:
    assert browser_answer(aws, "POST", "/", CALL)[0] == 200
