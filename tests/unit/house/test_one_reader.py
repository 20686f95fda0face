"""Untrusted formats have one reader each, and templates one comparison: each rule on them holds everywhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGES = ("triton_fleet", "client", "stacks", "constructs")
"""The product. The emulator, the scripts of builds, functions and containers import nothing of it."""
READERS = {
    "tar": "triton_fleet/repository/reading/tar.py",
    "gzip": "triton_fleet/repository/reading/gunzip.py",
}
LIBRARIES = {
    "tarfile": "tar",
    **dict.fromkeys(("gzip", "zlib", "isal", "isal.isal_zlib", "isal.igzip", "isal.igzip_threaded"), "gzip"),
}
UNBOUNDED_READERS = {"unpack_archive": "tar", "frombuf": "tar", "fromtarfile": "tar"}
"""Names of functions that read a format, whatever they are called on."""
WRITES = {
    *("BLOCKSIZE", "RECORDSIZE", "PAX_FORMAT", "DIRTYPE", "REGTYPE", "SYMTYPE", "TarInfo"),
    *("crc32", "compress", "compressobj"),
}
"""Names of those libraries that read no stream."""
CONFIG_READERS = {
    "triton_fleet/store/missing_files.py": "knows the name, and opens Makefiles",
    "triton_fleet/check/repositories.py": "a config.pbtxt outside of a repository, named on the command line",
    "triton_fleet/local/triton/model_backend.py": "what Triton is about to load, for the stand-ins of its backends",
    "triton_fleet/local/triton/staging.py": "the copy that Triton gets, to change it",
    "triton_fleet/local/try_load/preparation.py": "the copy that Triton gets, to change it",
    "triton_fleet/repository/reading/folder.py": "every file of a folder whose content counts",
}
"""The modules that know the name config.pbtxt and open files, and what for."""
TEMPLATE_READERS = {
    "stacks/fleet_stacks/dynamic_references.py": "names where in one template a secret is referenced",
    "triton_fleet/aws/drift/declaration.py": "compares the template of a stack with what runs",
    "triton_fleet/changes/update_effect.py": "compares",
    "triton_fleet/changes/permission_changes.py": "compares",
    "triton_fleet/changes/templates.py": "compares",
}
"""The modules that read the resources of a template, and what for."""
CONFIG = "config.pbtxt"
OPENS = {"open", "read_bytes", "read_text"}


@pytest.fixture(scope="module")
def modules(root: Path) -> dict[str, ast.Module]:
    """The product's modules by file, parsed once for all rules."""
    files = (file for package in PACKAGES for file in sorted((root / package).rglob("*.py")))
    return {file.relative_to(root).as_posix(): ast.parse(file.read_text()) for file in files}


def formats_read(module: ast.Module) -> set[str]:
    """Of "tar" and "gzip" those that a module reads, or might: each use of a library that is none of `WRITES`."""
    libraries = dict(_libraries(module))
    written_ids = {
        id(call.func) for call in ast.walk(module) if isinstance(call, ast.Call) and _is_to_write(call)
    }
    result = set[str]()
    for node in ast.walk(module):
        match node:
            case ast.Attribute(attr=name) if name in UNBOUNDED_READERS:
                result.add(UNBOUNDED_READERS[name])
            case ast.Attribute(value=ast.Name(id=library), attr=name) if library in libraries:
                if name not in WRITES and id(node) not in written_ids:
                    result.add(libraries[library])
            case ast.ImportFrom(module=str(library)) if library in LIBRARIES:
                if any(f"{library}.{name.name}" not in LIBRARIES for name in node.names):
                    result.add(LIBRARIES[library])
    return result


def _libraries(module: ast.Module) -> Iterator[tuple[str, str]]:
    """The names that stand for a library in a module, with its format."""
    for node in ast.walk(module):
        if isinstance(node, ast.Import | ast.ImportFrom):
            package = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for name in node.names:
                if kind := LIBRARIES.get(package + name.name):
                    yield name.asname or name.name, kind


def _is_to_write(call: ast.Call) -> bool:
    """Whether an argument is a mode that writes, such as "wb" and "w|"."""
    given_arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    return any(
        isinstance(given_argument, ast.Constant) and given_argument.value in ("w", "wb", "w|", "x", "xb")
        for given_argument in given_arguments
    )


@pytest.mark.parametrize(
    ("code", "formats"),
    [
        ("import tarfile\ntarfile.open(file)", {"tar"}),
        ("import tarfile\nwith tarfile.open(fileobj=f, mode='r|') as tar: pass", {"tar"}),
        ("import tarfile as t\nt.TarFile(file)", {"tar"}),
        (
            "import tarfile\nimport gzip\ntarfile.TarInfo.frombuf(gzip.decompress(b), 'utf-8', '')",
            {"tar", "gzip"},
        ),
        ("from tarfile import open", {"tar"}),
        ("import shutil\nshutil.unpack_archive(a, b)", {"tar"}),
        ("from isal import isal_zlib\nisal_zlib.decompressobj(31)", {"gzip"}),
        ("from isal import igzip\nigzip.open(file)", {"gzip"}),
        ("import zlib\nread = zlib.decompress", {"gzip"}),
        ("import tarfile\ntarfile.open(fileobj=f, mode='w|')\ntarfile.TarInfo('a').tobuf()", set()),
        ("from isal import isal_zlib, igzip\nisal_zlib.crc32(b)\nigzip.compress(b)", set()),
        ("import gzip\ngzip.GzipFile('', 'wb', fileobj=f)", set()),
    ],
)
def test_what_reads_a_tar_or_gzip_stream_is_seen(code: str, formats: set[str]) -> None:
    assert formats_read(ast.parse(code)) == formats


@pytest.fixture(scope="module")
def formats_by_file(modules: dict[str, ast.Module]) -> dict[str, set[str]]:
    return {file: formats_read(module) for file, module in modules.items()}


@pytest.mark.parametrize("kind", READERS)
def test_one_module_reads_each_format(formats_by_file: dict[str, set[str]], kind: str) -> None:
    reading = {file for file, formats in formats_by_file.items() if kind in formats}
    assert reading == {READERS[kind]}, f"use {READERS[kind]}: it has limits, and hostile archives test it"


def test_config_pbtxt_is_opened_where_a_repository_is_read(modules: dict[str, ast.Module]) -> None:
    constants = {(module_name(file), name) for file, module in modules.items() for name in _constants(module)}
    opening = {
        file
        for file, module in modules.items()
        if _names_config(module, constants)
        and any(isinstance(node, ast.Call) and name_of_call(node) in OPENS for node in ast.walk(module))
    }
    assert opening == set(CONFIG_READERS), "take the text from the repository's contents"


def test_templates_are_compared_in_one_package(modules: dict[str, ast.Module]) -> None:
    reading = {
        file
        for file, module in modules.items()
        if any(isinstance(node, ast.Constant) and node.value == "Resources" for node in ast.walk(module))
    }
    assert reading == set(TEMPLATE_READERS), "compare templates by triton_fleet.changes.templates"


def module_name(file: str) -> str:
    return file.removesuffix(".py").replace("/", ".")


def _constants(module: ast.Module) -> Iterator[str]:
    """The names of a module's constants that are config.pbtxt."""
    for node in module.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=value)) if value == CONFIG:
                yield name
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                for name_, value_ in zip(names, values, strict=False):
                    if isinstance(value_, ast.Constant) and value_.value == CONFIG:
                        yield ast.unparse(name_)


def _names_config(module: ast.Module, constants: set[tuple[str, str]]) -> bool:
    for node in ast.walk(module):
        match node:
            case ast.Constant(value=value) if value == CONFIG:
                return True
            case ast.ImportFrom() if {(node.module, name.name) for name in node.names} & constants:
                return True
    return False


def name_of_call(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)
