"""The command; in a wheel, `python3 WHEEL/triton_fleet init DIR` installs that wheel into a new fleet."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

PLACE = Path(__file__).absolute().parents[1]


def run_from_wheel() -> None:
    """Set up a fleet by the files of the wheel, unpacked: much of the product is read from folders."""
    if sys.version_info < (3, 11):  # noqa: UP036 - a wheel is run by any Python that its user has
        sys.exit("Python 3.11 or newer is needed, such as: python3.12 WHEEL/triton_fleet init DIR")
    with TemporaryDirectory() as folder:
        with ZipFile(PLACE) as wheel:
            wheel.extractall(folder)
        sys.path[0] = folder
        from triton_fleet.exits import run_to_exit
        from triton_fleet.product.setup_files import first_install

        run_to_exit(lambda: sys.exit(first_install(PLACE, sys.argv[1:])))


if PLACE.is_file():
    run_from_wheel()
else:
    from triton_fleet.cli.main import run

    run()
