"""Makes what git does not keep of the model zoo: three ONNX graphs and the archive `sentences`.

The graphs come from the onnx wheel; `sentences` is the repository of ../sentence_embeddings under model names
that no other archive has. The bytes depend on the pinned wheels alone: the archives' digests are reviewed.
"""

from __future__ import annotations

import argparse
import filecmp
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

REPOSITORIES = Path(__file__).parent / "models"
SENTENCES = Path(__file__).resolve().parents[1] / "sentence_embeddings"
MODELS = {
    "preprocess": "sentence_tokenizer",
    "minilm": "sentence_minilm",
    "postprocess": "sentence_pooling",
    "ensemble": "sentence_ensemble",
}
GRAPHS = {
    "resnet50/resnet50/1/model.onnx": "light_resnet50.onnx",
    "inception-v1/inception_v1/1/model.onnx": "light_inception_v1.onnx",
    "image-classes/image_inception/1/model.onnx": "light_inception_v2.onnx",
}
LINKED_FROM = 1024 * 1024  # bytes; smaller files are copied, so that who edits one changes no other
_NAME = re.compile(rf'^(\s*(?:model_)?name: )"({"|".join(MODELS)})"$', re.MULTILINE)

Content = bytes | Path


def find_graphs() -> Path:
    """The folder of the installed onnx wheel that holds the graphs."""
    spec = importlib.util.find_spec("onnx")
    for place in (spec and spec.submodule_search_locations) or []:
        folder = Path(place) / "backend" / "test" / "data" / "light"
        if all((folder / name).is_file() for name in GRAPHS.values()):
            return folder
    raise FileNotFoundError("the graphs are not installed; run: pip install onnx")


def rename_model(source: Path) -> dict[str, Content]:
    """The files of `sentences` by their place in it: the content, or the large file that is to be linked."""
    files: dict[str, Content] = {}
    for old, new in MODELS.items():
        for file in sorted((source / old).rglob("*")):
            place = file.relative_to(source / old)
            if not file.is_file() or any(part.startswith((".", "__pycache__")) for part in place.parts):
                continue
            large = file.stat().st_size >= LINKED_FROM
            files[f"{new}/{place}"] = file if large else file.read_bytes()
        config = (source / old / "config.pbtxt").read_text()
        files[f"{new}/config.pbtxt"] = _NAME.sub(
            lambda name: f'{name[1]}"{MODELS[name[2]]}"', config
        ).encode()
    return files


def is_made(file: Path, content: Content) -> bool:
    """Whether the file holds that already."""
    if not file.is_file():
        return False
    return file.read_bytes() == content if isinstance(content, bytes) else filecmp.cmp(file, content)


def has_exactly(folder: Path, files: Mapping[str, Content]) -> bool:
    """Whether the folder holds these files and no others."""
    paths = {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}
    return paths == set(files) and all(is_made(folder / name, content) for name, content in files.items())


def replace(folder: Path, files: Mapping[str, Content]) -> None:
    """Puts a folder of these files in the place of the one that is there, when all of them are written."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".", suffix=".part") as part:
        for name, content in files.items():
            file = Path(part) / folder.name / name
            file.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, bytes):
                file.write_bytes(content)
            else:
                link_or_copy(content, file)
        if folder.exists():
            folder.rename(Path(part) / "replaced")
        (Path(part) / folder.name).rename(folder)


def link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without links
        shutil.copy2(source, target)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--into", type=Path, default=REPOSITORIES, help="folder of the archives to write to")
    into = parser.parse_args().into
    try:
        folder = find_graphs()
    except FileNotFoundError as error:
        print(f"make_models: {error}", file=sys.stderr)
        return 2
    process = subprocess.run(
        [sys.executable, SENTENCES / "make_weights.py"], stdout=subprocess.DEVNULL, check=False
    )
    if process.returncode != 0:
        return process.returncode  # it has said why
    sys.path.insert(0, str(SENTENCES))
    from make_weights import write

    graphs = {into / place: (folder / name).read_bytes() for place, name in GRAPHS.items()}
    stale = {file: content for file, content in graphs.items() if not is_made(file, content)}
    for file, content in stale.items():
        write(file, content)
    sentences = rename_model(SENTENCES / "models")
    current = has_exactly(into / "sentences", sentences)
    if not current:
        replace(into / "sentences", sentences)
    state = "written" if stale or not current else "up to date"
    print(f"{state}: {into}, {len(graphs)} graphs and {len(sentences)} files of sentences")
    return 0


if __name__ == "__main__":
    sys.exit(main())
