"""The build context of an image: the files of a folder that its build may read.

Source: https://docs.docker.com/build/concepts/context/. Times, owners and empty folders are left out, as Git
keeps none: the same commit is the same context on each machine.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from triton_fleet.builds.images.dockerfile import DOCKERFILE
from triton_fleet.builds.images.ignore_file import (
    MAX_IGNORE_BYTES,
    ROOT,
    IgnoreFile,
    IgnoreMatch,
    IgnorePattern,
    parse_ignore_file,
)
from triton_fleet.builds.images.lines import quote
from triton_fleet.core.folders import PRIVATE_NAMES
from triton_fleet.core.formats import format_size
from triton_fleet.findings import Finding
from triton_fleet.repository.entry_path import NO_TEXT
from triton_fleet.spec.source import MAX_FINDINGS

IGNORE_FILES = (f"{DOCKERFILE}.dockerignore", ".dockerignore")
"""The first one that exists is read, as BuildKit does."""
BUILD_FILES = frozenset([DOCKERFILE, *IGNORE_FILES])
"""What a build needs itself: it is uploaded even where a pattern keeps it from COPY."""
MAX_CONTEXT_FILES, MAX_CONTEXT_BYTES = 5000, 2 << 30
MAX_FOLDER_ENTRIES = 200_000
"""Entries of the folder with those that are kept out."""
MAX_MATCH_STEPS = 1 << 30
"""Characters of all paths times those of all patterns: a minute at most."""
MAX_ENTRY_PATH = 1024
"""Bytes of a path: the build unpacks it below another folder, and Linux takes 4096 in all."""
PRIVATE_KEY = re.compile(rb"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----")
MAX_KEY_START = 4096
"""Bytes of a file in which a private key begins, below what describes it."""
SERVE_COMMAND = re.compile(
    rb"""(?:^|[\n;&])[ \t]*exec[ \t]+(?:"?\$(?:@|\{@\})"?|(?:/usr/bin/)?serve)[ \t]*;?\s*\Z"""
)
MAX_SCRIPT_END = 1024
"""Bytes at the end of a file in which a script has its last command."""
CHUNK = 1 << 20


@dataclass(frozen=True, kw_only=True)
class ContextEntry:
    """A file or a symbolic link.

    Attributes:
        path: From the root of the context, with slashes.
        size: In bytes; 0 for a link.
        executable: Whether its owner may execute it.
        digest: `sha256:...` of its content; "" for a link.
        target: What a link leads to, as it is written; "" for a file.
        holds_key: Whether it begins like a private key.
        starts_triton: Whether it ends like a script that runs `serve`, by its name or as its arguments.
        ignored_by: The pattern that keeps it from COPY and ADD; it is sent for the build itself.
    """

    path: str
    size: int = 0
    executable: bool = False
    digest: str = ""
    target: str = ""
    holds_key: bool = False
    starts_triton: bool = False
    ignored_by: IgnorePattern | None = None


@dataclass(frozen=True)
class BuildContext:
    """The entries of a folder, sorted by their paths, and what cannot be sent."""

    folder: Path
    entries: tuple[ContextEntry, ...]
    ignore_file: IgnoreFile
    findings: tuple[Finding, ...] = ()

    @cached_property
    def copyable(self) -> dict[str, ContextEntry]:
        """The files that COPY and ADD find, by path."""
        return {entry.path: entry for entry in self.entries if entry.ignored_by is None}

    @cached_property
    def folders(self) -> frozenset[str]:
        """The folders that hold something that COPY and ADD find."""
        return folders_of(self.copyable)

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(entry.size for entry in self.entries)


def folders_of(paths: dict[str, ContextEntry]) -> frozenset[str]:
    """The folders around paths, without the root."""
    folders = set[str]()
    for path in paths:
        end = path.rfind("/")
        while end > 0 and path[:end] not in folders:
            folders.add(path[:end])
            end = path.rfind("/", 0, end)
    return frozenset(folders)


def changed_file(file: Path, problem: str) -> Finding:
    """The error for a file that is being written."""
    hint = "wait until its writer has finished, then run the command again"
    return Finding(code="FL305", message=f"the file {problem}", file=file, hint=hint)


def read_context(folder: Path) -> BuildContext:
    """The build context of a folder; the content of each file is read once, for its digest.

    What cannot be sent is among the findings: a link that leads out of the folder, a device or a socket, what
    cannot be read, and more than the limits.
    """
    return _Walk(folder).context()


@dataclass
class _Walk:
    folder: Path
    entries: list[ContextEntry] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    entry_count: int = 0
    size: int = 0
    steps: int = 0

    def context(self) -> BuildContext:
        self.root = os.path.realpath(self.folder)
        self.ignore = self._ignore_file()
        try:
            for path, match, entry in self._visit():
                self._take(path, match, entry)
                self._check_limits()
        except _TooMuchError as error:
            hint = f"list what the image does not need in {self.folder / IGNORE_FILES[-1]}"
            self._add("FL939", f"the build context is too large: {error}", hint=hint)
        entries = tuple(sorted(self.entries, key=lambda context_entry: context_entry.path))
        findings = tuple(
            sorted([*self.ignore.findings, *self.findings], key=lambda context_entry: context_entry.sort_key)
        )
        return BuildContext(self.folder, entries, self.ignore, findings)

    def _ignore_file(self) -> IgnoreFile:
        for name in IGNORE_FILES:
            file = self.folder / name
            if file.is_symlink():
                self._add(
                    "FL940",
                    "the file is a link, so its content is not sent",
                    name,
                    "replace the link with the file",
                )
            elif file.is_file():
                return self._read_ignore_file(file)
        return IgnoreFile(self.folder / IGNORE_FILES[-1])

    def _read_ignore_file(self, file: Path) -> IgnoreFile:
        try:
            with file.open("rb") as content:
                return parse_ignore_file(content.read(MAX_IGNORE_BYTES + 1), file)
        except OSError as error:
            self._add("FL938", f"the file cannot be read: {error.strerror}", file.name)
            return IgnoreFile(file)

    def _visit(self) -> Iterator[tuple[str, IgnoreMatch, os.DirEntry[str]]]:
        folders = [("", ROOT)]
        while folders:
            folder, around = folders.pop()
            try:
                with os.scandir(self.folder / folder) as directory:
                    entries = sorted(self._count_entries(directory), key=lambda entry: entry.name)
            except OSError as error:
                self._add("FL938", f"the folder cannot be read: {error.strerror}", folder)
                continue
            for entry in entries:
                if entry.name in PRIVATE_NAMES:
                    continue
                path = f"{folder}/{entry.name}" if folder else entry.name
                self.steps += self.ignore.cost * len(path)
                self._check_limits()
                match = self.ignore.match(path, around)
                if match.by is None and len(os.fsencode(path)) > MAX_ENTRY_PATH:
                    message = f"a path in it is longer than {MAX_ENTRY_PATH} bytes: {quote(path)}"
                    self._add("FL938", message, hint="use shorter names, or list the folder in .dockerignore")
                elif not entry.is_dir(follow_symlinks=False):
                    yield path, match, entry
                elif match.by is None or self.ignore.may_return(path):
                    folders.append((path, match))

    def _count_entries(self, directory: Iterator[os.DirEntry[str]]) -> Iterator[os.DirEntry[str]]:
        for entry in directory:
            self.entry_count += 1
            if self.entry_count > MAX_FOLDER_ENTRIES:
                raise _TooMuchError(f"the folder contains more than {MAX_FOLDER_ENTRIES} entries")
            yield entry

    def _take(self, path: str, match: IgnoreMatch, entry: os.DirEntry[str]) -> None:
        if match.by and path not in BUILD_FILES:
            return
        if NO_TEXT.search(path):
            message = f"the name {_shown_name(path)} contains control characters or is not UTF-8"
            self._add("FL938", message, hint="rename the file")
        elif entry.is_symlink():
            self._take_link(path, match)
        elif entry.is_file(follow_symlinks=False):
            self._take_file(path, match)
        else:
            message = "only files, folders and links can be sent; this is a device, a pipe or a socket"
            self._add("FL938", message, path, "delete it, or list it in .dockerignore")

    def _take_link(self, path: str, match: IgnoreMatch) -> None:
        try:
            target = os.readlink(self.folder / path)  # noqa: PTH115 - as written, not as Path writes it
            real = os.path.realpath(self.folder / path)
        except OSError as error:
            self._add("FL938", f"the link cannot be read: {error.strerror}", path)
            return
        if target.startswith("/") or not f"{real}/".startswith(f"{self.root}/"):
            message = f"the link leads out of the folder, to {target!r}"
            hint = "replace it with the file itself, or list the link in .dockerignore"
            self._add("FL938", message, path, hint)
        elif NO_TEXT.search(target):
            self._add("FL938", "the target of the link contains control characters", path, "rename it")
        else:
            self.entries.append(ContextEntry(path=path, target=target, ignored_by=match.by))

    def _take_file(self, path: str, match: IgnoreMatch) -> None:
        try:
            handle = os.open(self.folder / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(handle, "rb", buffering=0) as content:
                mode = os.fstat(handle).st_mode
                digest, size, holds_key, end = hashlib.sha256(), 0, False, b""
                while chunk := content.read(CHUNK):
                    holds_key = holds_key or (not size and bool(PRIVATE_KEY.search(chunk[:MAX_KEY_START])))
                    digest.update(chunk)
                    end = (end + chunk)[-MAX_SCRIPT_END:]
                    size += len(chunk)
                    self._check_limits(size)
        except OSError as error:
            self._add("FL938", f"the file cannot be read: {error.strerror}", path)
            return
        self.size += size
        self.entries.append(
            ContextEntry(
                path=path,
                size=size,
                executable=bool(mode & stat.S_IXUSR),
                digest=f"sha256:{digest.hexdigest()}",
                holds_key=holds_key,
                starts_triton=bool(SERVE_COMMAND.search(end)),
                ignored_by=match.by,
            )
        )

    def _check_limits(self, further: int = 0) -> None:
        if len(self.entries) > MAX_CONTEXT_FILES:
            raise _TooMuchError(f"it has more than {MAX_CONTEXT_FILES} files")
        if self.size + further > MAX_CONTEXT_BYTES:
            raise _TooMuchError(f"it has more than {format_size(MAX_CONTEXT_BYTES)}")
        if self.steps > MAX_MATCH_STEPS:
            raise _TooMuchError(f"{len(self.ignore.patterns)} patterns are too many for so many files")

    def _add(self, code: str, message: str, path: str = "", hint: str = "") -> None:
        if NO_TEXT.search(path):
            message, path = f"{message}, below the name {_shown_name(path)}", ""
        if len(self.findings) < MAX_FINDINGS:
            self.findings.append(Finding(code=code, message=message, file=self.folder / path, hint=hint))


def _shown_name(path: str) -> str:
    return quote(os.fsencode(path).decode(errors="replace"))


class _TooMuchError(Exception):
    pass
