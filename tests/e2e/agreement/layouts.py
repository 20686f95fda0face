"""Changes of the folders and files around the configs, in both modes."""

from __future__ import annotations

from collections.abc import Iterator

from tests.support.broken_repositories import (
    CONFIG,
    DOUBLE,
    SCALE,
    SINGLE,
    Case,
    Files,
    change_file,
    move_files,
    without,
)


def layout_cases() -> Iterator[Case]:
    """All of them."""
    yield from _either_mode()
    yield from _folders_beside()
    yield from _multi_model()
    yield from _single()


def _either_mode() -> Iterator[Case]:
    for name, folder, what in (
        ("version-leading-zero", "01", "the version 01"),
        ("version-zero", "0", "the version 0"),
        ("version-word", "first", "a version that is a word"),
        ("version-v1", "v1", "a version v1"),
        ("version-number-and-word", "1a", "a version 1a"),
        ("version-large", "20240131", "a version of eight digits"),
        ("version-negative", "-1", "a version -1"),
        ("version-plus", "+1", "a version +1"),
        ("version-dot", "1.0", "a version 1.0"),
        ("version-space", "1 ", "a version with a space after it"),
    ):
        yield Case(id=name, files=move_files(SCALE, "scale/1/", f"scale/{folder}/"), change=what)
    yield Case(id="no-version", files=without(DOUBLE, ["double/1/model.py"]), change="no version")
    beside = {**without(DOUBLE, ["double/1/model.py"]), "double/model.py": DOUBLE["double/1/model.py"]}
    yield Case(id="code-beside-config", files=beside, change="model.py beside the config")
    yield Case(
        id="version-is-file",
        files={**without(DOUBLE, ["double/1/model.py"]), "double/1": b""},
        change="the version is a file",
    )
    code = DOUBLE["double/1/model.py"]
    two: Files = {**DOUBLE, "double/2/model.py": code}
    newer: Files = {**SCALE, "scale/2-old/notes.txt": b"x"}
    yield Case(id="newer-by-its-first-digit", files=newer, change="a directory 2-old beside the version 1")
    yield Case(id="newest-version-empty", files={**SCALE, "scale/2/": b""}, change="an empty version 2")
    ten: Files = {**DOUBLE, "double/2/model.py": code, "double/10/model.py": code}
    yield Case(id="ten-versions", files=ten, change="the versions 1, 2 and 10")
    yield Case(
        id="older-version-broken",
        files={**two, "double/1/model.py": b"def broken(:\n"},
        change="a broken version 1 beside a version 2",
    )
    yield Case(
        id="extra-files",
        files={**DOUBLE, "double/notes.txt": b"x", "double/assets/a.bin": b"x", "README.md": b"x"},
        change="files that Triton does not know",
    )
    yield Case(
        id="hidden-in-model",
        files={**DOUBLE, "double/.git/HEAD": b"x"},
        change="a hidden directory in the model",
    )
    yield Case(
        id="config-upper",
        files=move_files(DOUBLE, CONFIG, "double/Config.pbtxt"),
        change="Config.pbtxt for config.pbtxt",
    )
    configs = {**DOUBLE, "double/configs/other.pbtxt": b"no_such_field: 1"}
    yield Case(
        id="custom-config-broken",
        files=configs,
        change="a broken config in configs/, which nobody asked for",
    )
    files = move_files(change_file(DOUBLE, CONFIG, ('"double"', '"double.v1"')), "double/", "double.v1/")
    yield Case(id="model-name-dot", files=files, change="the model is called double.v1")


def _folders_beside() -> Iterator[Case]:
    """Folders of a model that are no versions, and what Triton makes of their names."""
    zero = move_files(
        change_file(SCALE, "scale/config.pbtxt", add="version_policy { specific { versions: 0 } }\n"),
        "scale/1/",
        "scale/0/",
    )
    yield Case(id="version-zero-specific", files=zero, change="version 0, and a policy that names it")
    files = change_file(SCALE, "scale/config.pbtxt", add="version_policy { all { } }\n")
    for name, folder in (("plus", "+2"), ("minus", "-3"), ("word", "2-old")):
        file = {f"scale/{folder}/notes.txt": b"x"}
        yield Case(id=f"beside-{name}", files={**files, **file}, change=f"a folder {folder} beside 1")
    yield Case(
        id="beside-zero-word",
        files={**files, "scale/0assets/notes.txt": b"x"},
        change="a folder 0assets beside 1",
    )
    alone = without(SCALE, ["scale/config.pbtxt"])
    for name, folder in (("hidden", ".cache"), ("zero", "0assets")):
        yield Case(
            id=f"no-config-{name}-first",
            files={**alone, f"scale/{folder}/notes.txt": b"x"},
            change=f"no config, and a folder {folder} that comes before 1",
        )
    yield Case(
        id="no-config-folder-last",
        files={**alone, "scale/assets/notes.txt": b"x"},
        change="no config, and a folder that comes after 1",
    )


def _multi_model() -> Iterator[Case]:
    yield Case(id="empty-archive", files={}, change="nothing is in the archive")
    yield Case(id="files-alone", files={"README.md": b"x"}, change="the archive has no folder")
    yield Case(id="folder-empty", files={"double/": b""}, change="the model's folder is empty")
    yield Case(
        id="config-at-root", files=move_files(DOUBLE, "double/", ""), change="config.pbtxt at the root"
    )
    named_files = change_file(DOUBLE, CONFIG, ('"double"', '"other"'))
    yield Case(
        id="root-other-name",
        files=move_files(named_files, "double/", ""),
        change="config.pbtxt at the root, with another name",
    )
    yield Case(
        id="root-no-version",
        files={"config.pbtxt": DOUBLE[CONFIG], "model.py": DOUBLE["double/1/model.py"]},
        change="config.pbtxt and model.py at the root",
    )
    yield Case(
        id="root-broken",
        files={"config.pbtxt": b"no_such_field: 1", "1/model.py": DOUBLE["double/1/model.py"]},
        change="a broken config.pbtxt at the root",
    )
    yield Case(id="multi-other-name", files=named_files, change="a name that is not the directory's")
    yield Case(
        id="nested",
        files=move_files(DOUBLE, "double/", "models/double/"),
        change="the repository is in a folder of the archive",
    )
    broken_files: Files = {**SCALE, "scale/config.pbtxt": b"no_such_field: 1"}
    commented_files = {**broken_files, **change_file(DOUBLE, CONFIG, add='# platform: "ensemble"\n')}
    what = 'two models, one of them broken, the other with `platform: "ensemble"` in a comment'
    yield Case(id="regex-in-comment", files=commented_files, change=what)


def _single() -> Iterator[Case]:
    named_files = change_file(DOUBLE, CONFIG, ('"double"', '"other"'))
    for name, files, what in (
        ("single-healthy", DOUBLE, "nothing"),
        ("single-other-name", named_files, "a name that is not the directory's"),
        ("single-config-at-root", move_files(DOUBLE, "double/", ""), "config.pbtxt at the root"),
        ("single-empty", {}, "nothing is in the archive"),
        ("single-hidden", {**DOUBLE, ".ipynb_checkpoints/": b""}, "a hidden directory beside the model"),
        ("single-file-beside", {**DOUBLE, "README.md": b"x"}, "a file beside the model"),
        (
            "single-space",
            move_files(change_file(DOUBLE, CONFIG, ('"double"', '"a model"')), "double/", "a model/"),
            "a directory with a space in its name",
        ),
        ("single-no-version", without(DOUBLE, ["double/1/model.py"]), "no version"),
        (
            "single-version-beyond-64-bits",
            move_files(DOUBLE, "double/1/", f"double/{'9' * 20}/"),
            "a version beyond 64 bits",
        ),
        (
            "single-config-folder",
            {**without(DOUBLE, [CONFIG]), f"{CONFIG}/": b""},
            "config.pbtxt is a folder",
        ),
        (
            "single-nested",
            move_files(DOUBLE, "double/", "models/double/"),
            "the repository is in a folder of the archive",
        ),
    ):
        yield Case(id=name, files=files, change=what, mode=SINGLE)
