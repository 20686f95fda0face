"""Requests that nobody should send: the router refuses them itself, and no model is reached that was not named."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from shared_container.nginx_config import ERRORS
from tests.support.shared_containers import (
    ATTRIBUTES,
    BINARY,
    PORT,
    SharedContainer,
    joins_repeated_headers,
    tensor,
    write_model,
)
from triton_fleet.local.triton.runtime import TritonRuntime

pytestmark = pytest.mark.triton

SEED, MUTATIONS, CLIENTS = 20260823, 10_000, 8
ROUTES = {"one": "first", "two": "second"}
PADDING = b"\r\n" * 2000
"""Ends any head, completes any short body, breaks any chunk; nginx skips it between requests."""
LAST = b"GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
PLAIN = b"Content-Type: application/json"
"""Without it no call in JSON is a plain one: the script reads it."""
STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")
OWN_FAILURES = [text.encode() for code, text in ERRORS.items() if code >= 500]
NAMES = [
    b"one",
    b"two",
    b"secret",
    b"first",
    b"..%2fsecret",
    b"../secret",
    b"one/../../secret",
    b"one%00",
    b"",
    b"'",
]
VALUES = [
    b"model=one",
    b"model=two;version=1",
    b"version=1",
    b"model=one;model=two",
    b"model=one\tmodel=two",
    b"model=one\x00",
    b"model=\xff\xfe",
    b"model=one;" * 200,
    b"model=secret",
    b"x=model=one",
    b"model=one\r\n X: y",
    b"model=one\nX: y",
    b"model=one\rX: y",
    b"model=" + b"a" * 9000,
]
HEADERS = [
    b"Transfer-Encoding: chunked",
    b"Transfer-Encoding: identity",
    b"Transfer-Encoding: chunked, chunked",
    b"Transfer-Encoding : chunked",
    b"Transfer-Encoding:\x0bchunked",
    b"Transfer-Encoding: gzip, chunked",
    b"Content-Length: 0",
    b"Content-Length: 5",
    b"Content-Length: +5",
    b"Content-Length: 5, 5",
    b"Content-Length: 0x10",
    b"Content-Length: -1",
    b"Content-Length: 99999999999999999999999",
    b"Content-Length: 6291457",
    b"Content-Encoding: gzip",
    b"Content-Encoding: identity",
    b"Content-Encoding: x\r\n y",
    b"Content-Type: application/json",
    BINARY.encode().join((b"Content-Type: ", b";json-header-size=3")),
    BINARY.encode().join((b"Content-Type: ", b";json-header-size=9999999999")),
    b"Inference-Header-Content-Length: 1",
    b"inference_header_content_length: 1",
    b" folded: line",
    b"\tfolded",
    b"no colon",
    b": no name",
    b"Host: b",
    b"Expect: 100-continue",
    b"Upgrade: h2c",
    b"Connection: Inference-Header-Content-Length, X-Amzn-SageMaker-Custom-Attributes",
    b"X-Original-URL: /v2/models/secret/infer",
    b"X-Accel-Redirect: /-triton",
]
PATHS = [
    b"/invocations",
    b"/invocations?model=secret",
    b"/invocations/../v2/models/secret/infer",
    b"/v2/models/secret/infer",
    b"/-triton",
    b"/invocations%2f..%2f-triton",
    b"//invocations",
    b"/%69nvocations",
    b"http://other/invocations",
    b"/invocations\x00",
    b"*",
    b"/ping",
    b"/" + b"a" * 9000,
]
METHODS = [b"POST", b"GET", b"PUT", b"post", b"PRI", b"CONNECT", b"TRACE", b"POST POST", b""]
VERSIONS = [b"HTTP/1.1", b"HTTP/1.0", b"HTTP/0.9", b"HTTP/2.0", b"HTTP/1.1 x", b"", b"HTTP/1.10"]
ENDS = [b"\r\n", b"\n", b"\r", b"\r\n\r\n", b"\x00\r\n"]


def request(dice: random.Random, number: int) -> bytes:
    """A request whose tensor has this number, with one to three things wrong."""
    body = tensor(number).encode()
    line = [b"POST", b"/invocations", b"HTTP/1.1"]
    name = dice.choice([b"one", b"two"])
    headers = [b"Host: a", b"%s: model=%s" % (ATTRIBUTES.encode(), name), b"Content-Length: %d" % len(body)]
    headers += dice.choice(([], [PLAIN]))
    end = b"\r\n"
    for _ in range(dice.randint(1, 3)):
        kind = dice.randrange(10)
        if kind == 0:
            line[dice.randrange(3)] = dice.choice((METHODS, PATHS, VERSIONS)[dice.randrange(3)])
        elif kind == 1:
            headers[1] = b"%s: %s" % (ATTRIBUTES.encode(), dice.choice(VALUES))
        elif kind == 2:
            headers[1] = b"%s: model=%s" % (ATTRIBUTES.encode(), dice.choice(NAMES))
        elif kind in (3, 4):
            headers.insert(dice.randrange(len(headers) + 1), dice.choice(HEADERS))
        elif kind == 5:
            headers.append(dice.choice(headers))
        elif kind == 6:
            headers[dice.randrange(len(headers))] = b"X-Nothing: a"
        elif kind == 7:
            end = dice.choice(ENDS)
        elif kind == 8:
            body = dice.choice(
                [
                    b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body),
                    b"%x;a=b\r\n%s\r\n0\r\nX: y\r\n\r\n" % (len(body), body),
                    b"fffffffffffffffff\r\n" + body,
                    b'{"modelname": "one", "payload": {"x": %d}}' % number,
                    b'{"modelname": "secret", "payload": {"x": %d}}' % number,
                    b"\x1f\x8b\x08" + body,
                    body + b"POST /v2/models/secret/infer HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}",
                    b"",
                ]
            )
        else:
            at = dice.randrange(3)
            target = (line, headers)[dice.randrange(2)]
            at = dice.randrange(len(target))
            raw = bytearray(target[at] or b" ")
            raw[dice.randrange(len(raw))] = dice.randrange(256)
            target[at] = bytes(raw)
    return b" ".join(line) + end + end.join(headers) + end + end + body


@pytest.fixture(scope="module")
def container(runtime: TritonRuntime, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedContainer]:
    """Two models that may be named, a third one that may not, and no default."""
    folder = tmp_path_factory.mktemp("hostile")
    for model in (*ROUTES.values(), "secret"):
        write_model(folder / "repository", model)
    routes = {"routes": {name: {"model": model, "versions": ["1"]} for name, model in ROUTES.items()}}
    container = SharedContainer(folder, runtime, routes)
    container.start()
    try:
        container.wait_ready()
        yield container
    finally:
        container.close()


def send_raw(container: SharedContainer, raw: bytes) -> bytes:
    """Everything that the router answers until it closes."""
    with container.network.connect(PORT, 60) as client:
        answer = b""
        try:
            client.sendall(raw + PADDING + LAST)
            client.settimeout(0.5)
            while part := client.recv(1 << 16):
                answer += part
        except TimeoutError:  # it waits for more of the body
            client.settimeout(60)
            client.shutdown(1)
            while part := client.recv(1 << 16):
                answer += part
        except ConnectionError:  # it has refused the request before it was sent whole
            pass
        return answer


@pytest.mark.nightly
def test_ten_thousand_mutations_reach_no_model_that_they_do_not_name(container: SharedContainer) -> None:
    dice = random.Random(SEED)
    requests = [request(dice, number) for number in range(MUTATIONS)]
    with ThreadPoolExecutor(CLIENTS) as pool:
        answers = list(pool.map(lambda raw: send_raw(container, raw), requests))
    statuses = Counter(int(status) for answer in answers for status in STATUS.findall(answer))
    for raw, answer in zip(requests, answers, strict=True):
        assert not any(failure in answer for failure in OWN_FAILURES), (raw, answer)
        assert b"<html" not in answer, (raw, answer)
    assert not set(statuses) - {100, 200, 400, 404, 405, 408, 413, 414, 415, 431, 500}, statuses
    assert statuses[200] > MUTATIONS / 20, "hardly any mutation is served"
    for record in container.recorded_lines():
        model, number = record.removesuffix("\n").split("/1 ")
        raw = requests[int(number)]
        (name,) = (name for name, route in ROUTES.items() if route == model)
        is_named = b"model=%s" % name.encode() in raw or b'"modelname": "%s"' % name.encode() in raw
        assert is_named, (record, raw)
    assert container.call("GET", "/ping").status == 200
    assert not any("exception" in message for message in container.messages("nginx"))


BODY = tensor(-7).encode()
LENGTH = b"Content-Length: %d" % len(BODY)
CHUNKED_HEADER = b"Transfer-Encoding: chunked"
IN_CHUNKS = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)


@pytest.mark.parametrize("more", [[], [PLAIN]], ids=["by script", "plain"])
@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ([LENGTH], BODY, 200),
        ([CHUNKED_HEADER], IN_CHUNKS, 200),
        ([LENGTH, CHUNKED_HEADER], IN_CHUNKS, 400),
        ([CHUNKED_HEADER, LENGTH], BODY, 400),
        ([LENGTH, LENGTH], BODY, 400),
        ([LENGTH, b"Content-Length: 0"], BODY, 400),
        ([b"Transfer-Encoding: gzip, chunked"], IN_CHUNKS, 400),
        ([LENGTH, b"X: y", b" folded"], BODY, 400),
        ([LENGTH.replace(b": ", b" : ")], BODY, 400),
        ([CHUNKED_HEADER], BODY, 400),
        ([LENGTH, b"Content-Encoding: gzip"], BODY, 415),
    ],
    ids=[
        "a length",
        "chunks",
        "a length and chunks",
        "chunks and a length",
        "two lengths",
        "two different lengths",
        "an unknown transfer encoding",
        "a folded header",
        "a blank before the colon",
        "chunks that are none",
        "an encoded body",
    ],
)
def test_a_body_has_one_length(
    container: SharedContainer, headers: list[bytes], body: bytes, status: int, more: list[bytes]
) -> None:
    before = container.recorded_lines()
    head = [b"POST /invocations HTTP/1.1", b"Host: a", f"{ATTRIBUTES}: model=one".encode(), *more, *headers]
    answer = send_raw(container, b"\r\n".join(head) + b"\r\n\r\n" + body)
    assert next(int(match) for match in STATUS.findall(answer)) == status
    assert container.recorded_lines() == [*before, *(["first/1 -7"] if status == 200 else [])]


@pytest.mark.parametrize("more", [[], [PLAIN]], ids=["by script", "plain"])
def test_lines_that_end_without_a_carriage_return_have_one_meaning(
    container: SharedContainer, more: list[bytes]
) -> None:
    """nginx takes them; as Triton gets a request that nginx has written, nobody takes them otherwise."""
    before = container.recorded_lines()
    head = [b"POST /invocations HTTP/1.1", b"Host: a", f"{ATTRIBUTES}: model=one".encode(), *more, LENGTH]
    answer = send_raw(container, b"\n".join(head) + b"\n\n" + BODY)
    assert [int(match) for match in STATUS.findall(answer)] == [200, 404]
    assert container.recorded_lines() == [*before, "first/1 -7"]


@pytest.mark.parametrize("more", [[], [PLAIN]], ids=["by script", "plain"])
def test_a_repeated_header_reaches_no_model_but_the_one_that_an_older_nginx_reads_first(
    container: SharedContainer, more: list[bytes]
) -> None:
    """Before 1.23 nginx gives a plain call the first of them; the script sees both, and so does nginx since."""
    before = container.recorded_lines()
    names = [f"{ATTRIBUTES}: model={name}".encode() for name in ROUTES]
    head = [b"POST /invocations HTTP/1.1", b"Host: a", *names, *more, LENGTH]
    answer = send_raw(container, b"\r\n".join(head) + b"\r\n\r\n" + BODY)
    is_served = bool(more) and not joins_repeated_headers()
    assert next(int(match) for match in STATUS.findall(answer)) == (200 if is_served else 400)
    assert container.recorded_lines() == [*before, *(["first/1 -7"] if is_served else [])]
