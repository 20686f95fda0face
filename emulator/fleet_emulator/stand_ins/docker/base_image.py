"""Stand-ins of the images of a release, NVIDIA's and SageMaker's: the catalog's facts, without content."""

from __future__ import annotations

from fleet.catalog.backends import backends
from fleet.catalog.images import Release, release, releases, removed_backends
from fleet.images.facts import BIND_LABEL, MULTI_MODEL_LABEL
from fleet.spec.image_name import ImageName
from fleet_emulator.stand_ins.docker.file_tree import EMPTY_FILE, FOLDER, FileTree, Node, NodeKind
from fleet_emulator.stand_ins.docker.image import CREATED, Image, assembled_image
from fleet_emulator.stand_ins.docker.output import NAME, DockerError
from fleet_emulator.stand_ins.docker.reference import ReleaseTag
from fleet_emulator.stand_ins.docker.store import ImageStore

NOTE = "a stand-in of the release's image: the catalog's facts of it, and empty files"
ENTRYPOINT = "/opt/nvidia/nvidia_entrypoint.sh"
"""triton-inference-server/server, build.py, of all images; as are the variables, labels and paths below."""
_PROGRAM = Node(kind=NodeKind.FILE, mode=0o755)
_LABELS = {
    BIND_LABEL: "true",
    MULTI_MODEL_LABEL: "true",
}
_PATH = "/opt/tritonserver/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def release_image(reference: ImageName, tag: ReleaseTag, store: ImageStore) -> Image:
    """The stand-in of a release's image.

    Raises:
        DockerError: the catalog does not have the release.
    """
    if tag.release not in releases():
        raise DockerError(
            f"{reference}: the catalog has no facts of release {tag.release}, so there is no stand-in of it;"
            f" write one of {', '.join(releases())}"
        )
    facts = release(tag.release)
    config = {
        "Env": [f"{name}={value}" for name, value in _variables(facts, gpu=tag.gpu).items()],
        "Entrypoint": [ENTRYPOINT],
        "WorkingDir": "/opt/tritonserver",
        "Labels": _LABELS,
    }
    layer = store.add_layer(_files(facts, gpu=tag.gpu))
    history = [{"created": CREATED, "created_by": f"{NAME}: {NOTE}"}]
    return assembled_image(config, [layer], history)


def _variables(facts: Release, *, gpu: bool) -> dict[str, str]:
    versions = {"NVIDIA_TRITON_SERVER_VERSION": facts.name, "TRITON_SERVER_VERSION": facts.server}
    if gpu:
        versions["CUDA_VERSION"] = facts.cuda
        if facts.tensorrt is not None:
            versions["TRT_VERSION"] = facts.tensorrt
    return {"PATH": _PATH, **versions}


def _files(facts: Release, *, gpu: bool) -> FileTree:
    tree = FileTree()
    for program in (ENTRYPOINT, "/usr/bin/serve", "/opt/tritonserver/bin/tritonserver", "/usr/bin/python3"):
        tree.put(program.lstrip("/"), _PROGRAM)
    tree.put(f"usr/bin/python{facts.python}", _PROGRAM)
    tree.put(f"usr/lib/python{facts.python}/os.py", EMPTY_FILE)
    tree.put(f"usr/local/lib/python{facts.python}/dist-packages", FOLDER)
    gone = removed_backends(facts.name)
    for backend in {each.backend for each in backends().values()} - gone.keys():
        if gpu or backend != "tensorrt":
            tree.put(f"opt/tritonserver/backends/{backend}/libtriton_{backend}.so", EMPTY_FILE)
    if gpu:
        tree.put(f"usr/local/cuda-{'.'.join(facts.cuda.split('.')[:2])}", FOLDER)
        if facts.tensorrt is not None:
            version = ".".join(facts.tensorrt.split(".")[:3])
            tree.put(f"usr/lib/x86_64-linux-gnu/libnvinfer.so.{version}", EMPTY_FILE)
    return tree
