"""The log of the container: JSON lines of one form on stdout, whoever wrote them."""

from __future__ import annotations

import json
import re
import sys
import threading
from datetime import datetime, timezone
from typing import Any, TextIO

MAX_CHARACTERS = 1 << 14
"""Of a line; each such part of a longer one is a line."""
_TRITON = re.compile(
    r"(?P<level>[IWEF])\d{4} \d\d:\d\d:\d\d\.\d+ \d+ (?P<where>[\w.+-]+:\d+)\] (?P<message>.*)", re.DOTALL
)
_TRITON_LEVELS = {"I": "info", "W": "warning", "E": "error", "F": "error"}
_NGINX = re.compile(r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d \[(?P<level>\w+)\] \d+#\d+: (?P<message>.*)", re.DOTALL)
_NGINX_LEVELS = {"debug": "info", "info": "info", "notice": "info", "warn": "warning"}


class Log:
    """Writes lines `{"time", "source", "level", "message"}`; may be used from several threads.

    Text of others is inside of `message`, so that CloudWatch reads no line of theirs as metrics.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        """Args: the stream; default: stdout."""
        self._stream = sys.stdout if stream is None else stream
        self._lock = threading.Lock()

    def write(self, source: str, level: str, message: str, **more: Any) -> None:
        """Write one line; `more` are further keys."""
        line = {
            "time": _time(datetime.now(timezone.utc)),
            "source": source,
            "level": level,
            "message": message,
        }
        self.write_json({**line, **more})

    def info(self, message: str) -> None:
        """Lines of the container itself."""
        self.write("container", "info", message)

    def error(self, message: str) -> None:
        """Why the container ends, or cannot do its work."""
        self.write("container", "error", message)

    def triton(self, line: str) -> None:
        """A line that Triton or one of its models wrote."""
        match = _TRITON.match(line)
        if match is None:
            self.write("triton", "info", line)
        else:
            level = _TRITON_LEVELS[match["level"]]
            self.write("triton", level, _unquote(match["message"]), where=match["where"])

    def nginx(self, line: str) -> None:
        """A line of nginx's error log."""
        match = _NGINX.match(line)
        if match is None:
            self.write("nginx", "error", line)
        else:
            self.write("nginx", _NGINX_LEVELS.get(match["level"], "error"), match["message"])

    def request(self, line: str) -> None:
        """A line of nginx's access log, in the format of nginx_config."""
        try:
            entry = json.loads(line)
            moment = datetime.fromtimestamp(float(entry["time"]), timezone.utc)
            status, seconds, size = int(entry["status"]), float(entry["seconds"]), int(entry["bytes"])
            message = f"{entry['method']} {entry['path']} {status}"
            details = {key: entry[key] for key in ("route", "version", "request") if entry[key]}
        except (ValueError, KeyError, TypeError):
            self.write("router", "error", line)
            return
        level = "info" if status < 400 else "warning" if status < 500 else "error"
        self.write_json(
            {
                "time": _time(moment),
                "source": "router",
                "level": level,
                "message": message,
                "status": status,
                **details,
                "seconds": seconds,
                "bytes": size,
            }
        )

    def write_json(self, line: dict[str, Any]) -> None:
        """Write one line as it is."""
        text = json.dumps(line, separators=(",", ":"))
        with self._lock:
            self._stream.write(f"{text}\n")
            self._stream.flush()


def _time(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _unquote(message: str) -> str:
    """Newer releases of Triton write each message as a JSON text."""
    if message.startswith('"'):
        try:
            text = json.loads(message)
        except ValueError:
            return message
        if isinstance(text, str):
            return text
    return message
