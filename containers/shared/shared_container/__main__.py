"""`python3 -m shared_container serve` is the container; `check` and `probe` belong to the image's build."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from .log import Log
from .probe import probe
from .routes import SettingsError
from .settings import DEFAULT_SECONDS, Places, read_settings
from .supervisor import Supervisor, write_files


def run(arguments: Sequence[str]) -> int:
    """The exit code of a command: 0, or 1 where a process or the settings failed."""
    options = _parser().parse_args(arguments)
    log = Log()
    places = Places(
        tritonserver=options.tritonserver,
        model_repository=options.model_repository,
        nginx=options.nginx,
        js_module=options.js_module,
        folder=options.folder,
    )
    try:
        settings = read_settings(
            os.environ, places, triton_options=options.triton_option, seconds=options.seconds
        )
        if options.command == "check":
            return 1 if subprocess.run([*write_files(settings), "-t"], check=False).returncode else 0
        if options.command == "probe":
            return probe(settings, log)
        return Supervisor(settings, log).run()
    except SettingsError as error:
        log.error(str(error))
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="shared_container", description=__doc__)
    parser.add_argument("command", choices=["serve", "check", "probe"])
    parser.add_argument("--tritonserver", default=Places.tritonserver, help="Default: %(default)s")
    parser.add_argument("--model-repository", default=Places.model_repository, help="Default: %(default)s")
    parser.add_argument("--nginx", default=Places.nginx, help="Default: %(default)s")
    parser.add_argument("--js-module", help="The njs module of nginx. Default: searched in the usual places")
    parser.add_argument(
        "--folder", type=Path, default=Places.folder, help="For nginx's files. Default: %(default)s"
    )
    parser.add_argument(
        "--triton-option", action="append", default=[], help="An option of tritonserver; may be repeated"
    )
    parser.add_argument(
        "--seconds",
        type=int,
        default=DEFAULT_SECONDS,
        help="The most that one inference may take. Default: %(default)s",
    )
    return parser


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
