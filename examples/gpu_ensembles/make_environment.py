"""Packs the Python environment of the models in `models/text`: what environment.txt pins and is installed.

The bytes follow from the lock file and the folder `environment` alone: the archive's digest is reviewed.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import io
import re
import struct
import sys
import tarfile
import zlib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parent
sys.path.insert(0, str(EXAMPLE.parent / "sentence_embeddings"))
from make_weights import update  # noqa: E402

LOCK, SCRIPTS = EXAMPLE / "environment.txt", EXAMPLE / "environment"
MODELS = ("preprocess", "postprocess")
PACKAGES = "lib/python3.12/site-packages"
"""Of the Python of Triton 25.04; environment/bin/adopt_python.py links others to it."""
PIN = re.compile(r"([\w.-]+)==([\w.!+]+)(?: \\)?")
FITS = re.compile(r"(?:py3|py2\.py3|cp3\d+)-(?:none-any|abi3-manylinux\w+_x86_64)")
"""Tags of wheels that fit the container, and every Python 3 from the one on that they name."""
METADATA = re.compile(r"[^/]+\.dist-info/(?:METADATA|licenses/.+)")
"""What is kept of a .dist-info; the rest also depends on who installed it."""
MAX_BLOCK = 0xFFFF
"""Most bytes of a block that is not compressed (RFC 1951, 3.2.4)."""


class NotAsLockedError(Exception):
    """The installed packages are not those of the lock file."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--lock", type=Path, default=LOCK, help="what to pack")
    parser.add_argument("--into", type=Path, default=EXAMPLE / "models/text", help="model repository")
    arguments = parser.parse_args()
    try:
        content = store(pack(files(arguments.lock)))
    except NotAsLockedError as error:
        print(f"make_environment: {error}", file=sys.stderr)
        return 2
    for model in MODELS:
        update(arguments.into / model / "processing_env.tar.gz", content)
    return 0


def files(lock: Path) -> dict[str, bytes]:
    """All files of the environment, by their place in it.

    Raises:
        NotAsLockedError: a pinned distribution is not installed as its wheel has it.
    """
    scripts = {
        f"bin/{script.name}": script.read_bytes()
        for script in (SCRIPTS / "bin").iterdir()
        if script.is_file()
    }
    lines = lock.read_text("utf-8").splitlines()
    pins = [pin(line) for line in lines if line[:1] not in ("", "#", " ")]
    return scripts | {
        f"{PACKAGES}/{path}": body for script in pins for path, body in installed_files(*script)
    }


def pin(line: str) -> tuple[str, str]:
    """Name and version of a distribution that is locked for every machine.

    Raises:
        NotAsLockedError: it is locked with extras, for some machines alone, or to no version.
    """
    match = PIN.fullmatch(line)
    if match is None:
        raise NotAsLockedError(f"`{line}` is no NAME==VERSION: leave out extras and markers")
    return match[1], match[2]


def installed_files(name: str, version: str) -> Iterator[tuple[str, bytes]]:
    """The files of an installed distribution, each compared with the digest that its wheel gave it.

    Raises:
        NotAsLockedError: it is absent, of another version, for one Python or machine only, or was changed.
    """
    try:
        distribution = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        raise NotAsLockedError(f"{name} {version} is not installed: run `make setup`") from None
    if distribution.version != version:
        message = f"{name} {distribution.version} is installed, and {version} is locked: run `make setup`"
        raise NotAsLockedError(message)
    tags = re.findall(r"^Tag: (\S+)", distribution.read_text("WHEEL") or "", re.MULTILINE)
    if not any(map(FITS.fullmatch, tags)):
        tag_list = ", ".join(tags)
        message = (
            f"{name} is installed from a wheel for {tag_list}, which does not fit every container's Python"
        )
        raise NotAsLockedError(f"{message}: pin one of the stable ABI, and pack it on Linux x86-64")
    for file in distribution.files or ():
        path = file.as_posix()
        # What was compiled here has no digest; scripts, which lie outside of the folder, name this machine.
        if (
            file.hash is None
            or path.startswith("..")
            or (".dist-info/" in path and not METADATA.fullmatch(path))
        ):
            continue
        body = file.read_binary()
        digest = base64.urlsafe_b64encode(hashlib.new(file.hash.mode, body).digest()).decode().rstrip("=")
        if digest != file.hash.value:
            message = f"{path} is not as {name} {version} has it: run `make clean`, then `make setup`"
            raise NotAsLockedError(message)
        yield path, body


def pack(content: dict[str, bytes]) -> bytes:
    """A tar stream that tells nothing of who made it, and when."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path, body in sorted(content.items()):
            member = tarfile.TarInfo(path)
            member.size = len(body)
            tar.addfile(member, io.BytesIO(body))
    return stream.getvalue()


def store(content: bytes) -> bytes:
    """The content as gzip that is not compressed: no two versions of zlib compress alike.

    The archive around it is compressed, so this costs nothing on the way to the endpoint.
    """
    blocks = [content[start : start + MAX_BLOCK] for start in range(0, len(content), MAX_BLOCK)]
    lengths = [(len(block), len(block) ^ 0xFFFF) for block in blocks]
    heads = [
        struct.pack("<BHH", number == len(blocks), *length) for number, length in enumerate(lengths, start=1)
    ]
    header = b"\x1f\x8b\x08" + bytes(6) + b"\xff"
    body = b"".join(part for pair in zip(heads, blocks, strict=True) for part in pair)
    return header + body + struct.pack("<II", zlib.crc32(content), len(content))


if __name__ == "__main__":
    sys.exit(main())
