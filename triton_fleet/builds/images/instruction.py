"""One instruction of a Dockerfile: keyword, flags and arguments, in shell or exec form.

Sources: https://docs.docker.com/reference/dockerfile/; moby/buildkit, frontend/dockerfile, where
parser/split_command.go removes quotes and backslashes from flags, and instructions/commands_runmount.go reads
the options of a mount as CSV.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Escape = Literal["\\", "`"]
"""What continues a line and makes the next character plain: the directive `escape`."""
KEYWORDS = frozenset(
    [
        *("ADD", "ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "LABEL"),
        *("MAINTAINER", "ONBUILD", "RUN", "SHELL", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR"),
    ]
)
_EXEC_FORMS = frozenset(["ADD", "CMD", "COPY", "ENTRYPOINT", "RUN", "SHELL", "VOLUME"])
_WITH_FLAGS = frozenset(["ADD", "COPY", "FROM", "HEALTHCHECK", "RUN"])
_WITH_HEREDOCS = frozenset(["ADD", "COPY", "RUN"])
_COMMANDS = frozenset(["CMD", "ENTRYPOINT", "RUN"])
_SPACES, _QUOTES, _BACKSLASH = b"\t\n\v\f\r \x85\xa0", b"\"'", ord("\\")
"""What ends a flag, what it is quoted with, and what makes a byte of it plain."""
_SPACE_RUN = re.compile(rb"[%b]*" % _SPACES)
_CSV_FIELD = re.compile(r'(?:"((?:[^"]|"")*)"|([^,]*))(?:,|$)')
_HEREDOC = re.compile(r"\d*<<-?[^<\s][^<]*")


def _word_pattern(escape: str) -> re.Pattern[str]:
    plain = re.escape(escape)
    quotes = rf"\"(?:[^\"{plain}]|{plain}.)*\"|'[^']*'"
    return re.compile(rf"(?:[^\s\"'{plain}]|{plain}.|{quotes}|[\"'{plain}])+", re.DOTALL)


_WORDS: dict[str, re.Pattern[str]] = {escape: _word_pattern(escape) for escape in ("\\", "`")}


@dataclass(frozen=True, kw_only=True)
class Instruction:
    """One instruction.

    Attributes:
        keyword: In upper case.
        raw: All behind the keyword, with continuation lines joined and comments removed.
        flags: `--name=value` by their names, in their order; a flag without a value has "".
        arguments: In exec form the strings of the JSON array; of a command in shell form the whole command;
            of others the words, with their quotes.
        exec_form: Whether the arguments are written as a JSON array.
        line: Where it begins, from 1.
        trigger: What an ONBUILD has later stages do.
    """

    keyword: str
    raw: str
    flags: tuple[tuple[str, str], ...]
    arguments: tuple[str, ...]
    exec_form: bool
    line: int
    trigger: Instruction | None = None

    def flag(self, name: str) -> str | None:
        """The last value of a flag; None where the instruction does not have it."""
        return next((value for key, value in reversed(self.flags) if key == name), None)

    def mounts(self) -> Iterator[dict[str, str]]:
        """The options of each `--mount`, by their names in lower case; `src` is `source`."""
        for name, value in self.flags:
            if name == "mount":
                fields = (match[1] or match[2] or "" for match in _CSV_FIELD.finditer(value))
                pairs = (field.partition("=")[::2] for field in fields)
                yield {{"src": "source"}.get(key.lower(), key.lower()): text for key, text in pairs}


def parse_instruction(text: str, line: int, escape: Escape) -> Instruction:
    """The instruction of a logical line, which is not empty."""
    keyword, _, raw = (part.strip() for part in re.sub(r"\s", " ", text.strip(), count=1).partition(" "))
    keyword = keyword.upper()
    flags, rest = _flags(raw) if keyword in _WITH_FLAGS else ((), raw)
    array = _exec_form(rest) if keyword in _EXEC_FORMS else None
    trigger = _trigger(keyword, raw, line, escape)
    if array is not None:
        arguments = array
    elif keyword in _COMMANDS:
        arguments = (rest,) if rest else ()
    elif keyword in ("ARG", "ENV", "LABEL"):
        arguments = tuple(words(rest, escape))
    else:
        arguments = tuple(rest.split())
    return Instruction(
        keyword=keyword,
        raw=raw,
        flags=flags,
        arguments=arguments,
        exec_form=array is not None,
        line=line,
        trigger=trigger,
    )


def has_heredoc(instruction: Instruction, escape: Escape) -> bool:
    """Whether the lines below are its here-document, as some version of BuildKit may read them."""
    inner = instruction.trigger or instruction
    if inner.keyword not in _WITH_HEREDOCS or inner.exec_form or "<<" not in inner.raw:
        return False
    return any(map(_HEREDOC.fullmatch, words(inner.raw, escape)))


def words(text: str, escape: Escape) -> Iterator[str]:
    """The words of a text, with their quotes; quoted and escaped white space separates nothing."""
    yield from (match[0] for match in _WORDS[escape].finditer(text))


def assignments(instruction: Instruction) -> Iterator[tuple[str, str | None]]:
    """Names and raw values of an ARG, ENV or LABEL; None for an ARG without a default."""
    first = instruction.arguments[:1]
    if instruction.keyword != "ARG" and first and "=" not in first[0]:
        yield first[0], instruction.raw.removeprefix(first[0]).strip()
        return
    for argument in instruction.arguments:
        name, equals, value = argument.partition("=")
        yield name, value if equals else None


def _trigger(keyword: str, raw: str, line: int, escape: Escape) -> Instruction | None:
    """The instruction in an ONBUILD; Docker takes no other ONBUILD in it."""
    if keyword != "ONBUILD" or not raw or raw.split(maxsplit=1)[0].upper() == keyword:
        return None
    return parse_instruction(raw, line, escape)


def _flags(raw: str) -> tuple[tuple[tuple[str, str], ...], str]:
    """The flags at the beginning, and what follows them; byte by byte, as BuildKit reads them."""
    data, at, flags = raw.encode(errors="replace"), 0, list[tuple[str, str]]()
    while True:
        at = _space_end(data, at)
        if not data.startswith(b"--", at):
            break
        word, at = _flag(data, at)
        if word == "--":
            break
        name, _, value = word.removeprefix("--").partition("=")
        flags.append((name, value))
    return tuple(flags), data[at:].decode(errors="replace").strip()


def _space_end(data: bytes, at: int) -> int:
    match = _SPACE_RUN.match(data, at)
    return match.end() if match else at


def _flag(data: bytes, at: int) -> tuple[str, int]:
    """The flag from a byte on, without its quotes and backslashes, and the byte behind it."""
    word, quote = bytearray(), None
    while at < len(data):
        sign = data[at]
        at += 1
        if quote is None and sign in _SPACES:
            break
        if sign == _BACKSLASH:
            word += data[at : at + 1]
            at += 1
        elif sign == quote:
            quote = None
        elif quote is None and sign in _QUOTES:
            quote = sign
        else:
            word.append(sign)
    return word.decode(errors="replace"), at


def _exec_form(rest: str) -> tuple[str, ...] | None:
    """The strings of a JSON array; None where it is anything else, which Docker takes as the shell form."""
    if not rest.startswith("["):
        return None
    try:
        array = json.loads(rest)
    except (ValueError, RecursionError):
        return None
    plain = isinstance(array, list) and all(isinstance(item, str) for item in array)
    return tuple(array) if plain else None
