"""Refreshes the catalog's facts from installed packages and saved lists, or warns of old ones.

Prints a line for each fact that changed, with its source and date, and what people have to do. Ends with 0;
with 1 where `--check` finds news, and with 2 where a source could not be read: the other files are refreshed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from functools import partial
from pathlib import Path

from catalog_refresh.ages import MAX_DAYS, stale_facts
from catalog_refresh.cloudformation import create_only_properties, log_retention, properties
from catalog_refresh.host_images import host_image_remarks
from catalog_refresh.images import images
from catalog_refresh.instance_types import api_types, availability, type_remarks
from catalog_refresh.limits import limits
from catalog_refresh.package import AbsentSourceError, find_package
from catalog_refresh.prices import prices
from catalog_refresh.proposal import Proposal, Remark, refresh
from catalog_refresh.quotas import quota_remarks

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "triton_fleet/catalog/data"
SDK = ROOT / ".venv-catalog/lib"
"""Where the SageMaker SDK is, apart from the product's packages."""


def main(command_line: Sequence[str]) -> int:
    """Refresh, or warn of what is old; what the process ends with."""
    arguments = _arguments(command_line)
    if arguments.ages:
        stale = list(stale_facts(arguments.data, arguments.today, arguments.older_than))
        for age in stale:
            print(f"warning: {age}", file=sys.stderr)
        if stale:
            print("  remedy: docs/add/catalog.md lists how each file is verified", file=sys.stderr)
        return 0
    remarks, problems, news = list[Remark](), list[str](), False
    for propose in _proposals(arguments):
        try:
            change = refresh(propose(), arguments.data, arguments.today)
        except AbsentSourceError as error:
            problems.append(str(error))
            continue
        remarks += change.remarks
        for line in change.lines:
            print(f"{change.file}: {line}")
        if change.text is not None:
            news = True
            if not arguments.check:
                _write(arguments.data / change.file, change.text)
    for compare in _comparisons(arguments):
        try:
            remarks += compare()
        except AbsentSourceError as error:
            problems.append(str(error))
    for remark in remarks:
        print(f"by hand: {remark.file}: {remark.text}")
    for problem in dict.fromkeys(problems):
        print(f"not read: {problem}", file=sys.stderr)
    if not (news or remarks or problems):
        print("no news")
    return 2 if problems else int(arguments.check and news)


def _arguments(command_line: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="catalog.py", description=str(__doc__).splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 where there is news")
    parser.add_argument("--ages", action="store_true", help="only warn of old facts")
    parser.add_argument(
        "--older-than", type=int, default=MAX_DAYS, metavar="DAYS", help="which are old. Default: %(default)s"
    )
    parser.add_argument("--prices", type=Path, help="AWS's price list of AmazonSageMaker in one region, JSON")
    parser.add_argument(
        "--quotas", type=Path, help="what `aws service-quotas list-aws-default-service-quotas` printed"
    )
    parser.add_argument(
        "--today", type=date.fromisoformat, default=date.today(), help="YYYY-MM-DD. Default: today"
    )
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the catalog's files")
    default = [*map(Path, filter(None, sys.path)), *SDK.glob("python*/site-packages")]
    parser.add_argument(
        "--packages", type=Path, action="append", help="folder of installed packages, several times"
    )
    arguments = parser.parse_args(command_line)
    arguments.packages = arguments.packages or default
    return arguments


def _proposals(arguments: argparse.Namespace) -> Iterator[Callable[[], Proposal]]:
    """A reader of the source of each file that a program refreshes."""
    data, package = arguments.data, partial(find_package, folders=arguments.packages)
    yield lambda: api_types(package("botocore"))
    yield lambda: availability(package("cfn-lint"), data)
    yield lambda: limits(package("botocore"), data)
    yield lambda: properties(package("cfn-lint"), data)
    yield lambda: create_only_properties(package("cfn-lint"), data)
    yield lambda: log_retention(package("cfn-lint"))
    yield lambda: images(package("sagemaker-core"), data)
    if arguments.prices:
        yield lambda: prices(arguments.prices, data)


def _comparisons(arguments: argparse.Namespace) -> Iterator[Callable[[], Iterator[Remark]]]:
    """Comparisons of a source with files that people write."""
    data, package = arguments.data, partial(find_package, folders=arguments.packages)
    yield lambda: type_remarks(package("botocore"), package("cfn-lint"), data)
    yield lambda: host_image_remarks(package("botocore"), data)
    if arguments.quotas:
        yield lambda: quota_remarks(arguments.quotas, data)


def _write(file: Path, text: str) -> None:
    """The whole new text or the old one, whenever it is interrupted."""
    beside = file.with_name(f".{file.name}.new")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)
