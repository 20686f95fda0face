"""The lock of an endpoint with an image of its own: what it has to record, and that it is read as written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.own_images import BUILT_IMAGE, DIGEST, KEY, OWN_IMAGE, lock_image
from triton_fleet.endpoint.locks import read_lock_file
from triton_fleet.findings import FindingsError
from triton_fleet.project.fleet_files import load_lock
from triton_fleet.project.project import open_project
from triton_fleet.spec.image import ImageFacts, LockedImage
from triton_fleet.spec.lock import Lock
from triton_fleet.store.lock import lock_text

OTHER_DIGEST = f"sha256:{'f' * 64}"
LOCK = "run `fleet lock --env dev sentences`"
FACTS = ImageFacts(
    architecture="linux/amd64",
    media_type="application/vnd.docker.distribution.manifest.v2+json",
    triton="25.04",
    server="2.57.0",
    cuda="12.9",
    tensorrt="10.9.0.34",
    python="3.12",
    backends=("onnxruntime", "python"),
    packages={"einops": "0.8.0", "numpy": "1.26.4"},
    multi_model=True,
    binds_to_port=True,
    serve=False,
)


class TestMismatch:
    @pytest.mark.parametrize(
        ("keys", "locked_value", "expected_text"),
        [
            ("", {"key": KEY}, f"the lock names an image, but the spec does not | {LOCK}"),
            (BUILT_IMAGE, None, f"the lock does not name the image of the spec | {LOCK}"),
            (OWN_IMAGE, None, f"the lock does not name the image of the spec | {LOCK}"),
            (
                OWN_IMAGE,
                {"digest": OTHER_DIGEST},
                f"the lock names the image {OTHER_DIGEST}, but the spec names another | {LOCK}",
            ),
            (
                OWN_IMAGE,
                {"key": KEY},
                f"the lock names the image {DIGEST}, but the spec names another | {LOCK}",
            ),
            (BUILT_IMAGE, {}, f"the lock names the image {DIGEST}, but the spec names another | {LOCK}"),
        ],
        ids=[
            "an image that the spec does not name",
            "none of a spec that builds one",
            "none of a spec that names one",
            "another digest than the spec's",
            "one that was built, of a spec that names one",
            "one that exists, of a spec that builds one",
        ],
    )
    def test_a_lock_of_another_image_is_refused_with_the_command_that_writes_it(
        self, folder: FleetFolder, keys: str, locked_value: dict[str, str] | None, expected_text: str
    ) -> None:
        folder.spec(keys)
        if locked_value is not None:
            lock_image(folder, **locked_value)
        (line,) = [line for line in folder.finding_lines() if " FL968 " in line]
        assert line == f"sentences.lock.yaml:None FL968 {expected_text}"

    @pytest.mark.parametrize(
        ("keys", "locked_value"), [("", None), (BUILT_IMAGE, {"key": KEY}), (OWN_IMAGE, {})]
    )
    def test_the_lock_of_the_specs_image_has_no_finding(
        self, folder: FleetFolder, keys: str, locked_value: dict[str, str] | None
    ) -> None:
        folder.spec(keys)
        if locked_value is not None:
            lock_image(folder, **locked_value)
        assert folder.findings() == []

    def test_on_this_machine_a_lock_records_no_image(self, folder: FleetFolder) -> None:
        folder.spec(BUILT_IMAGE)
        spec = open_project(folder.root, "dev").load("sentences").spec
        file = folder.root / "locks" / "dev" / "sentences.lock.yaml"
        _, findings = read_lock_file(file, "local", spec)
        assert findings == []


class TestFile:
    @pytest.mark.parametrize(
        "image",
        [
            LockedImage(digest=DIGEST),
            LockedImage(digest=DIGEST, facts=ImageFacts()),
            LockedImage(digest=DIGEST, key=KEY, facts=FACTS),
            LockedImage(digest=DIGEST, key=KEY, facts=ImageFacts(backends=(), packages={})),
            LockedImage(key=KEY, expected=ImageFacts(triton="25.04")),
        ],
        ids=["unknown", "nothing found", "all facts", "no backend and no package", "not built yet"],
    )
    def test_what_is_written_is_what_is_read(self, tmp_path: Path, image: LockedImage) -> None:
        file = tmp_path / "sentences.lock.yaml"
        file.write_text(lock_text(Lock(endpoint="sentences", image=image, archives={})))
        assert load_lock(file).image == image

    def test_facts_that_are_not_known_are_not_written(self) -> None:
        image = LockedImage(digest=DIGEST, facts=ImageFacts(triton="25.04"))
        text = lock_text(Lock(endpoint="sentences", image=image, archives={}))
        assert f"image:\n  digest: {DIGEST}\n  facts:\n    triton: '25.04'\n" in text

    @pytest.mark.parametrize(
        ("image", "problem"),
        [
            ("facts: {}", "`digest` is missing"),
            (
                f"{{key: '{KEY}', digest: '{DIGEST}', expected: {{}}}}",
                "`expected` belongs to an image without",
            ),
        ],
    )
    def test_an_image_has_a_digest_or_the_key_of_a_build(
        self, folder: FleetFolder, image: str, problem: str
    ) -> None:
        text = f"endpoint: sentences\narchives: {{}}\nimage:\n  {image}\n"
        with pytest.raises(FindingsError, match=problem):
            load_lock(folder.write("locks/dev/sentences.lock.yaml", text))

    @pytest.mark.parametrize(
        ("wrong", "key"),
        [
            ("cuda: '12'", "image.facts.cuda"),
            ("triton: 25.4", "image.facts.triton"),
            ("backends: ['../python']", "image.facts.backends[0]"),
            ("packages: {Einops: '1'}", "image.facts.packages.Einops"),
            ("architecture: arm64", "image.facts.architecture"),
            ("cudaa: '12.9'", "image.facts.cudaa"),
        ],
    )
    def test_facts_of_another_form_are_refused_at_their_line(
        self, folder: FleetFolder, wrong: str, key: str
    ) -> None:
        text = f"endpoint: sentences\narchives: {{}}\nimage:\n  digest: {DIGEST}\n  facts:\n    {wrong}\n"
        file = folder.write("locks/dev/sentences.lock.yaml", text)
        with pytest.raises(FindingsError) as error_info:
            load_lock(file)
        (finding,) = error_info.value.findings
        assert finding.line == 6
        assert f"`{key}`" in finding.message
