"""Which version directories of a model Triton would load.

Source: triton-inference-server/core, r26.06, src/model_repository_manager/model_lifecycle.cc, VersionsToLoad.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from triton_fleet.findings import Finding, Severity
from triton_fleet.repository.backends import named_backend
from triton_fleet.repository.config.extras import NO_VERSION
from triton_fleet.repository.config.message import ParsedConfig
from triton_fleet.repository.contents import Contents
from triton_fleet.repository.entry_path import is_version
from triton_fleet.repository.model_config import loaded_versions

LEADING_ZERO = re.compile(r"0[0-9]+")
VERSION_WORD = re.compile(r"v(?:er|ersion)?[-_.]?(0|[1-9][0-9]*)", re.IGNORECASE)
NUMBER = re.compile(r"\s*[+-]?[0-9]+")
MAX_VERSION = 2**63 - 1


def present_versions(contents: Contents, model: str) -> list[str]:
    """The folders of a model that count as versions; "0" does, "01" does not."""
    return [name for name in contents.folders(model) if is_version(name) and int(name) <= MAX_VERSION]


def mistaken_for_versions(contents: Contents, model: str) -> dict[str, int]:
    """Folders that Triton reads the number of a version from and that are not called so: "2-old" is 2."""
    names = [name for name in contents.folders(model) if not is_version(name) and not name.startswith("0")]
    return {name: int(match[0]) for name in names if (match := NUMBER.match(name))}


def misnamed_versions(contents: Contents, model: str) -> dict[str, str]:
    """Folders named as versions, which Triton ignores: "v1" is not 1."""
    return {name: match[1] for name in contents.folders(model) if (match := VERSION_WORD.fullmatch(name))}


def rename_hint(names: Mapping[str, str]) -> str:
    """The renaming that makes versions of such folders."""
    name, number = next(iter(names.items()))
    return f"rename {name} to {number}: Triton ignores it, as the name of a version is its number alone"


def policy_versions(config: ParsedConfig, present_numbers: Sequence[str]) -> list[str]:
    """Those that the policy takes."""
    return loaded_versions(config.message, present_numbers)


def versions(contents: Contents, model: str, config: ParsedConfig, *, is_built: bool) -> Iterator[Finding]:
    """A model without a version to load, and folders that look like versions and are none.

    Into the empty one of a model that `is_built`, its engine goes.
    """
    numbers = present_versions(contents, model)
    yield from _numbers(contents, model, config, numbers)
    for name, number in misnamed_versions(contents, model).items() if numbers else ():
        message = f"Triton ignores the directory '{name}': the name of a version is its number alone"
        hint = f"rename it to {number} to have it served" if number not in numbers else "remove it"
        file = contents.file(contents.path(model, name))
        yield Finding(code="FL464", message=message, file=file, hint=hint, severity=Severity.WARNING)
    for name in contents.folders(model):
        if LEADING_ZERO.fullmatch(name):
            message = f"ignore version directory '{name}' which contains leading zeros in its directory name"
            yield Finding(
                code="FL464",
                message=message,
                file=contents.file(contents.path(model, name)),
                hint=f"rename it to {int(name)}",
                severity=Severity.WARNING,
            )
    policy = config.message.version_policy
    if policy.WhichOneof("policy_choice") == "specific" and numbers:
        for index, version in enumerate(policy.specific.versions):
            if str(version) not in numbers:
                message = (
                    f"version {version} is specified for model '{config.name}', but the version directory"
                    " is not present"
                )
                place = ("version_policy", "specific", "versions", index)
                hint = f"the model has {', '.join(numbers)}"
                yield config.finding("FL465", message, *place, hint=hint, severity=Severity.WARNING)
    if not is_built:
        yield from _empty(contents, model, config, numbers)
    if numbers and not policy_versions(config, numbers):
        hint = f"the model has {', '.join(numbers)}, of which the policy takes none"
        yield config.finding("FL465", NO_VERSION.format(config.name), "version_policy", hint=hint)


def _empty(contents: Contents, model: str, config: ParsedConfig, numbers: Sequence[str]) -> Iterator[Finding]:
    """Version folders that would be lost on the way, or of which nobody knows whether they may be empty."""
    folders = [contents.path(model, version) for version in numbers]
    if not numbers or contents.archive or any(contents.below(folder) for folder in folders):
        return
    if contents.is_packed:
        backend = named_backend(config.message)
        if backend and backend != "ensemble":
            yield Finding(
                code="FL463",
                message=f"{model!r} is packed with an empty version directory: whether its backend"
                f" {backend!r} needs a file in it is not known here",
                hint=f"leave it so if it needs none; else put the file into {folders[0]}/",
                file=contents.file(model),
                severity=Severity.WARNING,
            )
    else:
        yield Finding(
            code="FL463",
            message=f"the version directory of {model!r} is empty: git and S3 keep no empty folders",
            hint=f"put a file into {folders[0]}/, such as a README.md",
            file=contents.file(folders[0]),
            severity=Severity.WARNING,
        )


def _numbers(
    contents: Contents, model: str, config: ParsedConfig, numbers: Sequence[str]
) -> Iterator[Finding]:
    """Folders that Triton reads as versions which do not exist, or whose number it cannot hold."""
    mistaken = {name: str(number) for name, number in mistaken_for_versions(contents, model).items()}
    policy_numbers = policy_versions(config, sorted({*numbers, *mistaken.values()}))
    for name, number in mistaken.items():
        if number in policy_numbers and number not in numbers:
            message = (
                f"Triton reads the directory '{name}' as version {number} of model '{config.name}',"
                " which does not exist"
            )
            place = contents.file(contents.path(model, name))
            hint = f"rename it to {number}, or to a name that does not begin with a number"
            yield Finding(code="FL464", message=message, file=place, hint=hint)
    for name in contents.folders(model):
        if is_version(name) and int(name) > MAX_VERSION:
            message = f"version {name} of model '{config.name}' is beyond 64 bits: the server ends"
            place = contents.file(contents.path(model, name))
            yield Finding(code="FL464", message=message, file=place, hint="write a smaller number")


def without_version(contents: Contents, model: str, config: ParsedConfig) -> Finding:
    """The finding about a model that has no version directory at all."""
    folder = contents.path(model, "1")
    hint = f"put its files into {folder}/; if a script creates them, run the script first"
    if renames := misnamed_versions(contents, model):
        hint = rename_hint(renames)
    elif config.message.platform == "ensemble":
        hint = f"its empty one was lost, as in git, S3 and some archives: put a file into {folder}/"
    elif named_backend(config.message) == "tensorrt":
        hint = (
            f"put its plan into {folder}/, or have it built from ONNX by `engines` of the spec, which"
            f" `fleet new` proposes if {model}.onnx is beside the repository"
        )
    lack = "no version directory with a file in it" if contents.is_packed else "no version directory"
    return Finding(
        code="FL404",
        message=f"{NO_VERSION.format(config.name)}: it has {lack}",
        hint=hint,
        file=contents.file(model),
    )
