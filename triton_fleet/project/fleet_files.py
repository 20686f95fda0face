"""The YAML files of a fleet, each parsed once."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from triton_fleet.core.reads import ReadCache
from triton_fleet.findings import FindingsError, all_of
from triton_fleet.project.reader import read_source
from triton_fleet.project.spec_files import SpecFiles, spec_files, yaml_stems
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.lock import Lock
from triton_fleet.spec.prices import PRICES, FleetPrices, PriceBook
from triton_fleet.spec.problems import validate
from triton_fleet.spec.source import ENVIRONMENTS, LOCK_END, LOCKS, OWN_FOLDERS, PROFILES

CDK_SETTINGS = "cdk.json"
"""Its `context` goes into templates."""
SYNTHESIS_INPUTS = (*OWN_FOLDERS, PRICES, CDK_SETTINGS, "requirements.txt")
"""The files and folders of a fleet that a synthesis reads; model repositories are not among them."""
LOCK_BYTES = 64 << 20
"""A lock of so many bytes at most is read; 10,000 archives of a few files take some 3 MB."""


class FleetFiles:
    """The files of one fleet as they are when they are first asked for.

    Attributes:
        root: The fleet's folder.
        source: Reads a YAML file that is not a lock.
        lock: Reads a lock by its path; whoever writes one lets it forget that.
        environment: Reads an environment by its name.
    """

    def __init__(self, root: Path) -> None:
        """Read nothing yet."""
        self.root = root
        self.source = ReadCache(read_source)
        self.lock = ReadCache(load_lock)
        self.environment = ReadCache[str, Environment](
            lambda name: validate(Environment, self.source(self.environment_file(name)))
        )

    @cached_property
    def specs(self) -> SpecFiles:
        """The specs in model_specs/."""
        return spec_files(self.root)

    @cached_property
    def environments(self) -> list[str]:
        """The environments that have a file."""
        return environment_names(self.root)

    @cached_property
    def profiles(self) -> list[str]:
        """The profiles that have a file."""
        return yaml_stems(self.root / PROFILES)[0]

    @cached_property
    def prices(self) -> PriceBook:
        """The prices of instances."""
        return read_prices(self.root)

    @cached_property
    def given_buckets(self) -> frozenset[str]:
        """The buckets that the files of all environments name, whatever else is wrong with them."""
        sources = (self.source.readable(self.environment_file(name)) for name in self.environments)
        buckets = (source.data.get("artifact_bucket") for source in sources if source is not None)
        return frozenset(bucket for bucket in buckets if isinstance(bucket, str))

    def environment_file(self, name: str) -> Path:
        """The path of an environment's file, whether or not it exists."""
        return self.root / ENVIRONMENTS / f"{name}.yaml"

    def lock_file(self, environment: str, endpoint: str) -> Path:
        """The path of an endpoint's lock, whether or not it exists."""
        return self.root / LOCKS / environment / f"{endpoint}{LOCK_END}"


def environment_names(root: Path) -> list[str]:
    """The environments that have a file."""
    return yaml_stems(root / ENVIRONMENTS)[0]


def load_locks(folder: Path) -> list[Lock]:
    """Read all locks of an environment, also those of endpoints without a spec.

    Raises:
        FindingsError: a lock cannot be read.
    """
    return all_of(sorted(folder.glob(f"*{LOCK_END}")), load_lock)


def load_lock(file: Path) -> Lock:
    """Read one lock.

    Raises:
        FindingsError: it is missing or does not hold what a lock holds.
    """
    return validate(Lock, read_source(file, LOCK_BYTES))


def read_prices(root: Path) -> PriceBook:
    """The prices of a fleet; what is wrong with its file is in the result."""
    file = root / PRICES
    if not (file.exists() or file.is_symlink()):
        return PriceBook()
    try:
        return PriceBook(validate(FleetPrices, read_source(file)))
    except FindingsError as error:
        return PriceBook(findings=tuple(error.findings))
