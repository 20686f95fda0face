"""Lines and documents on standard output and standard error, without rich, which may be what is missing."""

from __future__ import annotations

import json
import sys

from triton_fleet.printers.sanitizer import indent_lines, powerless, printable_json


def print_error(text: str) -> None:
    """Print a text on standard error; its lines after the first begin with `    | `."""
    print(powerless(indent_lines(text)), file=sys.stderr)


def print_line(line: str) -> None:
    """Print one line of a file or a log, whatever is in it, and flush it at once."""
    print(powerless(line.rstrip("\n").replace("\t", "    ")), flush=True)


def print_json(document: object) -> None:
    """Print a JSON document of which a terminal and a CI runner see plain text."""
    print_json_text(json.dumps(document, indent=1, ensure_ascii=False))


def print_json_text(text: str) -> None:
    """Print what is JSON already, as `print_json` does."""
    print(printable_json(text))


def print_bytes(content: bytes) -> None:
    """Give a program the bytes as they are; a terminal gets them as visible lines."""
    sys.stdout.flush()
    if sys.stdout.isatty():
        for line in content.decode("utf-8", "backslashreplace").split("\n"):
            print_line(line)
        return
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
