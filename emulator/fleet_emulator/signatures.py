"""Who may ask the embedded AWS: whoever signs with its keys, or with those of a role assumed by them.

Source: IAM User Guide, "AWS Signature Version 4 for API requests".
"""

from __future__ import annotations

import hmac
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote

from botocore.utils import normalize_url_path

from fleet_emulator.accounts import Accounts
from fleet_emulator.failures import (
    MAX_SKEW,
    TIME,
    UNKNOWN_KEY,
    UNSIGNED_REQUEST,
    WRONG_BODY,
    WRONG_DIGEST,
    WRONG_SIGNATURE,
    Refusal,
    expired_signature,
    skewed_time,
)

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

_ALGORITHM = "AWS4-HMAC-SHA256"
_UNSIGNED = "UNSIGNED-PAYLOAD"
_STREAMED = "STREAMING-"
_DIGEST = re.compile(r"[0-9a-f]{64}")
_MIN_JUMP = timedelta(seconds=1)


class UnsignedError(Exception):
    """The request is not signed as it has to be; `refusal` is the answer."""

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal
        super().__init__(refusal.query[0])


@dataclass(frozen=True, kw_only=True)
class _Claim:
    """The signature of a request; `payload` is the digest that it names, None for that of its body."""

    key_id: str
    scope: tuple[str, ...]
    headers: tuple[str, ...]
    signature: str
    time: str
    token: str
    payload: str | None
    seconds: int | None = None


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Whose request it is, and the region that it is for."""

    account: str
    region: str


class Signatures:
    """Checks the signatures of requests."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts
        self._clock = _Clock()

    def check(self, environ: WSGIEnvironment, read_body: Callable[[], bytes]) -> Caller:
        """See that the key's owner has signed the request; no body is read for who does not know a key's id.

        Returns:
            The key's account, and the region that was signed.

        Raises:
            UnsignedError: it is signed with other keys, or not at all.
        """
        claim = _claim(environ)
        signer = self._accounts.signer(claim.key_id, claim.token)
        if signer is None:
            raise UnsignedError(UNKNOWN_KEY)
        body = read_body()
        expected = _signature(environ, claim, signer.secret, body)
        if not hmac.compare_digest(expected.encode(), claim.signature.encode()):
            raise UnsignedError(WRONG_SIGNATURE)
        self._check_time(claim)
        _check_body(claim, body)
        return Caller(account=signer.account, region=claim.scope[1])

    def _check_time(self, claim: _Claim) -> None:
        signed = datetime.strptime(claim.time, TIME).replace(tzinfo=UTC)
        if claim.seconds is None:
            now, *others = self._clock.times()
            if all(abs(each - signed) > MAX_SKEW for each in (now, *others)):
                raise UnsignedError(skewed_time(signed, now))
        elif datetime.now(UTC) > signed + timedelta(seconds=claim.seconds):
            raise UnsignedError(expired_signature("Signature expired"))


class _Clock:
    """This machine's time; after a jump, also the time without it, while requests from before may come."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._start = datetime.now(UTC) - timedelta(seconds=time.monotonic())
        self._start_before, self._end_before = self._start, 0.0

    def times(self) -> list[datetime]:
        """The wall clock's time, first, and the one that it would show without a recent jump."""
        seconds = time.monotonic()
        now = datetime.now(UTC)
        with self._lock:
            start = now - timedelta(seconds=seconds)
            if abs(start - self._start) > _MIN_JUMP:
                self._start_before, self._end_before = self._start, seconds + MAX_SKEW.total_seconds()
            self._start = start
            if seconds < self._end_before:
                return [now, self._start_before + timedelta(seconds=seconds)]
        return [now]


def _check_body(claim: _Claim, body: bytes) -> None:
    """Compare a body with the digest that was signed in its place."""
    if claim.payload in (None, _UNSIGNED) or claim.payload.startswith(_STREAMED):
        return
    if _DIGEST.fullmatch(claim.payload) is None:
        raise UnsignedError(WRONG_DIGEST)
    if not hmac.compare_digest(sha256(body).hexdigest(), claim.payload):
        raise UnsignedError(WRONG_BODY if claim.scope[2] == "s3" else WRONG_SIGNATURE)


def _claim(environ: WSGIEnvironment) -> _Claim:
    authorization = environ.get("HTTP_AUTHORIZATION", "")
    algorithm, _, rest = authorization.partition(" ")
    try:
        if algorithm == _ALGORITHM:
            return _header_claim(environ, dict(part.strip().split("=", 1) for part in rest.split(",")))
        query = dict(parse_qsl(environ.get("QUERY_STRING", ""), keep_blank_values=True))
        if not authorization and query.get("X-Amz-Algorithm") == _ALGORITHM:
            return _query_claim(query)
    except (KeyError, ValueError) as error:
        raise UnsignedError(WRONG_SIGNATURE) from error
    raise UnsignedError(UNSIGNED_REQUEST)


def _header_claim(environ: WSGIEnvironment, parts: Mapping[str, str]) -> _Claim:
    key_id, *scope = parts["Credential"].split("/")
    return _Claim(
        key_id=key_id,
        scope=_require_scope(scope),
        headers=tuple(parts["SignedHeaders"].split(";")),
        signature=parts["Signature"],
        time=environ["HTTP_X_AMZ_DATE"],
        token=environ.get("HTTP_X_AMZ_SECURITY_TOKEN", ""),
        payload=environ.get("HTTP_X_AMZ_CONTENT_SHA256"),
    )


def _query_claim(query: Mapping[str, str]) -> _Claim:
    key_id, *scope = query["X-Amz-Credential"].split("/")
    return _Claim(
        key_id=key_id,
        scope=_require_scope(scope),
        headers=tuple(query["X-Amz-SignedHeaders"].split(";")),
        signature=query["X-Amz-Signature"],
        time=query["X-Amz-Date"],
        token=query.get("X-Amz-Security-Token", ""),
        payload=_UNSIGNED if scope[2] == "s3" else None,
        seconds=int(query["X-Amz-Expires"]),
    )


def _require_scope(scope: list[str]) -> tuple[str, ...]:
    date, region, service, end = scope
    return date, region, service, end


def _signature(environ: WSGIEnvironment, claim: _Claim, secret: str, body: bytes) -> str:
    request = "\n".join(_canonical(environ, claim, body))
    digest = sha256(request.encode("latin-1")).hexdigest()
    text = "\n".join((_ALGORITHM, claim.time, "/".join(claim.scope), digest))
    key = f"AWS4{secret}".encode()
    for part in claim.scope:
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.digest(key, text.encode(), "sha256").hex()


def _canonical(environ: WSGIEnvironment, claim: _Claim, body: bytes) -> Iterator[str]:
    path, _, query = environ["RAW_URI"].partition("?")
    yield environ["REQUEST_METHOD"]
    # S3 signs the path as it is sent; all other services sign it normalised, and encoded once more.
    yield path if claim.scope[2] == "s3" else quote(normalize_url_path(path), safe="/~", encoding="latin-1")
    pairs = (each.partition("=") for each in query.split("&") if each)
    signed = sorted((name, value) for name, _, value in pairs if name != "X-Amz-Signature")
    yield "&".join(f"{name}={value}" for name, value in signed)
    for name in claim.headers:
        yield f"{name}:{' '.join(_header(environ, name).split())}"
    yield ""
    yield ";".join(claim.headers)
    yield sha256(body).hexdigest() if claim.payload is None else claim.payload


def _header(environ: WSGIEnvironment, name: str) -> str:
    key = name.upper().replace("-", "_")
    return str(environ.get(key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{key}", ""))
