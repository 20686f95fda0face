"""An image of the spec's own: where it is, and that what is known to be inside decides, as of the release."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.fleet_folder import LOCK, SPEC, FleetFolder
from tests.support.own_images import BUILT_IMAGE, DIGEST, KEY, OWN_IMAGE, REGISTRY, lock_image
from triton_fleet.builds.engines.endpoint_engines import planned_engines
from triton_fleet.catalog.images import image as release_image
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.registries import pulled_repositories
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.findings import Severity
from triton_fleet.project.fleet_files import load_lock
from triton_fleet.project.project import open_project
from triton_fleet.rules.apply import rule_findings
from triton_fleet.spec.engine import Engine

RELEASE = "763104351884.dkr.ecr.us-east-1.amazonaws.com/sagemaker-tritonserver"
RELEASE_TENSORRT = "10.9.0.34"


def context(folder: FleetFolder, environment: str = "dev") -> EndpointContext:
    """The endpoint with its lock, whatever is wrong with either."""
    project = open_project(folder.root, environment)
    lock = load_lock(folder.root / "locks" / "dev" / "sentences.lock.yaml")
    return EndpointContext(loaded_spec=project.load("sentences"), environment=project.environment, lock=lock)


def with_lock(folder: FleetFolder, keys: str, **lock: Any) -> EndpointContext:
    folder.spec(keys)
    lock_image(folder, **lock)
    return context(folder)


class TestPlace:
    def test_what_was_built_is_in_the_environments_repository_under_its_key(
        self, folder: FleetFolder
    ) -> None:
        image = with_lock(folder, BUILT_IMAGE, key=KEY).image
        assert image is not None
        assert image.uri == f"{REGISTRY}/triton-fleet-dev@{DIGEST}"
        assert image.reference == f"{REGISTRY}/triton-fleet-dev:{'e' * 64}@{DIGEST}"
        assert image.is_own

    def test_before_it_is_locked_it_has_no_digest(self, folder: FleetFolder) -> None:
        folder.spec(BUILT_IMAGE)
        image = context(folder).image
        assert image is not None
        assert (image.uri, image.digest) == (f"{REGISTRY}/triton-fleet-dev:not-built", None)

    def test_one_that_exists_is_where_the_spec_has_it_whatever_the_lock_records(
        self, folder: FleetFolder
    ) -> None:
        image = with_lock(folder, OWN_IMAGE, digest=f"sha256:{1:064}").image
        assert image is not None
        assert image.uri == image.reference == f"{REGISTRY}/team/detector@{DIGEST}"

    def test_the_role_pulls_its_repository_and_not_the_releases(self, folder: FleetFolder) -> None:
        repositories = pulled_repositories(with_lock(folder, OWN_IMAGE))
        assert [(repository.account, repository.name) for repository in repositories] == [
            ("111122223333", "team/detector")
        ]

    def test_of_an_account_that_is_not_allowed_nothing_is_pulled_whatever_the_spec_allows_itself(
        self, folder: FleetFolder
    ) -> None:
        foreign = OWN_IMAGE.replace("111122223333", "999999999999")
        context = with_lock(folder, f"{foreign}allow: {{FL971: because we can}}\n")
        assert pulled_repositories(context) == ()
        assert {finding.code for finding in rule_findings(context)} >= {"FL971", "FL131"}

    @pytest.mark.parametrize(
        "uri",
        [
            f"{REGISTRY}/triton-fleet-dev",
            f"{REGISTRY}/triton-fleet-prod-0123abcd",
            f"{REGISTRY}/mirror/triton-fleet-dev",
            "444455556666.dkr.ecr.us-east-1.amazonaws.com/triton-fleet-staging",
        ],
    )
    def test_what_fleets_have_built_is_named_by_its_folder_alone(self, folder: FleetFolder, uri: str) -> None:
        folder.environment('allowed_registries: ["444455556666"]\n')
        named_text = f'image: {{uri: {uri}, digest: "{DIGEST}"}}\nallow: {{FL971: because we can}}\n'
        context = with_lock(folder, named_text)
        assert {finding.code for finding in rule_findings(context)} >= {"FL971", "FL131"}
        assert pulled_repositories(context) == ()

    def test_another_image_of_sagemakers_registry_is_allowed_by_the_environment_alone(
        self, folder: FleetFolder
    ) -> None:
        other_text = OWN_IMAGE.replace(
            f"{REGISTRY}/team/detector", RELEASE.replace("sagemaker-triton", "djl-")
        )
        decided_context = with_lock(folder, other_text)
        assert "FL971" in {finding.code for finding in rule_findings(decided_context)}
        assert pulled_repositories(decided_context) == ()
        folder.environment('allowed_registries: ["763104351884"]\n')
        assert "FL971" not in {finding.code for finding in rule_findings(context(folder))}

    def test_on_this_machine_the_release_stands_in_its_place(self, folder: FleetFolder) -> None:
        folder.environment(name="local")
        folder.spec(BUILT_IMAGE)
        lock_image(folder, key=KEY, cuda="13.0")
        image = context(folder, "local").image
        assert image == context(folder, "local").release_image
        assert image is not None
        assert (image.is_own, image.cuda) == (False, 12)


class TestFacts:
    def test_those_of_the_lock_replace_the_releases(self, folder: FleetFolder) -> None:
        facts = {
            "triton": "26.03",
            "server": "2.66.0",
            "cuda": "13.1",
            "tensorrt": "10.14.1",
            "python": "3.13",
        }
        image = with_lock(folder, OWN_IMAGE, **facts).image
        assert image is not None
        details = image.details
        assert (image.release, image.cuda) == ("26.03", 13)
        assert (details.name, details.server, details.cuda) == ("26.03", "2.66.0", "13.1")
        assert (details.tensorrt, details.python) == ("10.14.1", "3.13")
        assert not {"server", "cuda", "tensorrt", "python"} & {*details.uncertain}

    def test_a_built_image_without_facts_is_taken_for_its_base(self, folder: FleetFolder) -> None:
        folder.spec(BUILT_IMAGE)
        decided_context = context(folder)
        assert decided_context.image is not None and decided_context.release_image is not None
        assert decided_context.image.details == decided_context.release_image.details

    def test_what_is_not_known_of_an_image_that_exists_is_uncertain(self, folder: FleetFolder) -> None:
        image, some_image = (
            with_lock(folder, OWN_IMAGE, **facts).image
            for facts in ({}, {"cuda": "12.9", "tensorrt": "10.9.0.34"})
        )
        assert image is not None and some_image is not None
        assert {"server", "cuda", "tensorrt", "python"} <= {*image.details.uncertain}
        assert {"server", "python"} <= {*some_image.details.uncertain}
        assert not {"cuda", "tensorrt"} & {*some_image.details.uncertain}
        assert some_image.details.tensorrt_certain

    def test_the_bounds_of_the_releases_tensorrt_are_not_those_of_another_image(
        self, folder: FleetFolder
    ) -> None:
        for facts in ({}, {"tensorrt": "11.1.0.106"}):
            image = with_lock(folder, OWN_IMAGE, **facts).image
            assert image is not None
            assert (image.details.min_tensorrt, image.details.max_tensorrt) == (None, None)

    def test_a_fact_settles_what_the_catalog_is_not_certain_of(self, folder: FleetFolder) -> None:
        uncertain = release_image("26.03", "us-east-1", gpu=True).details.uncertain
        assert "tensorrt" in uncertain
        folder.spec(BUILT_IMAGE, base=SPEC.replace("25.04", "26.03").replace("ml.g5", "ml.g6"))
        lock_image(folder, key=KEY, tensorrt="10.14.1.48")
        image = context(folder).image
        assert image is not None
        assert "tensorrt" not in image.details.uncertain


class TestRules:
    """Rules about the release's image speak of what runs."""

    def test_the_cuda_inside_decides_whether_there_is_a_driver(self, folder: FleetFolder) -> None:
        base = SPEC.replace("ml.g5.xlarge", "ml.g7e.2xlarge")
        folder.spec(BUILT_IMAGE, base=base)
        lock_image(folder, key=KEY, triton="25.04", cuda="12.9")
        assert "FL204" in {finding.code for finding in rule_findings(context(folder))}
        lock_image(folder, key=KEY, triton="25.04", cuda="13.0")
        assert "FL204" not in {finding.code for finding in rule_findings(context(folder))}

    def test_the_cuda_inside_decides_the_host_image(self, folder: FleetFolder) -> None:
        base = SPEC.replace("ml.g5.xlarge", "ml.g6.xlarge")
        folder.spec(BUILT_IMAGE, base=base)
        choices = []
        for cuda in ("12.9", "13.0"):
            lock_image(folder, key=KEY, triton="25.04", cuda=cuda)
            ami = context(folder).ami
            choices.append(ami.name if ami else None)
        assert choices == ["al2-ami-sagemaker-inference-gpu-3-1", "al2023-ami-sagemaker-inference-gpu-4-1"]

    def test_of_an_image_that_nobody_could_read_they_warn_and_nothing_is_refused(
        self, folder: FleetFolder
    ) -> None:
        folder.spec(OWN_IMAGE)
        lock_image(folder)
        warnings = resolve_project(open_project(folder.root, "dev")).warnings
        assert "FL974" in {warning.code for warning in warnings}
        (unknown,) = [warning for warning in warnings if warning.code == "FL974"]
        assert (unknown.file, unknown.line) == (folder.root / "model_specs" / "sentences.yaml", 6)
        assert unknown.hint == "run `fleet lock --env dev sentences` with credentials that may pull it"

    def test_they_doubt_a_driver_and_a_plan_for_an_image_that_nobody_could_read(
        self, folder: FleetFolder
    ) -> None:
        folder.spec(OWN_IMAGE, base=SPEC.replace("ml.g5.xlarge", "ml.g7e.2xlarge"))
        plans = 'models: {embed: {backend: tensorrt, plans: {1/model.plan: "10.3.0.26"}}}'
        folder.write("locks/dev/sentences.lock.yaml", LOCK.replace("models: [embed]", plans))
        codes, severities = ("FL204", "FL256"), []
        for facts in ({}, {"cuda": "12.9", "tensorrt": "10.9.0.34"}):
            lock_image(folder, **facts)
            actual_severities = {finding.code: finding.severity for finding in rule_findings(context(folder))}
            severities.append([actual_severities[code] for code in codes])
        assert severities == [[Severity.WARNING] * 2, [Severity.ERROR] * 2]

    def test_they_doubt_a_host_image_that_is_named_for_it(self, folder: FleetFolder) -> None:
        ami = "instance: {type: ml.g6.xlarge, ami: al2023-ami-sagemaker-inference-gpu-4-1}"
        folder.spec(
            OWN_IMAGE, base=SPEC.replace("instance: {type: ml.g5.xlarge}", ami).replace("25.04", "25.09")
        )
        severities = []
        for facts in ({"cuda": "14.0"}, {}):
            lock_image(folder, **facts)
            actual_severities = {finding.code: finding.severity for finding in rule_findings(context(folder))}
            severities.append(actual_severities.get("FL223"))
        assert severities == [Severity.ERROR, None]

    def test_on_this_machine_none_speaks_of_the_image(self, folder: FleetFolder) -> None:
        folder.environment(name="local")
        folder.spec(OWN_IMAGE.replace("111122223333", "444455556666"))
        decided_context = replace(context(folder, "local"), lock=None)
        assert [
            finding for finding in rule_findings(decided_context) if finding.code.startswith("FL97")
        ] == []


class TestEngines:
    """An engine is of the TensorRT that builds it."""

    @staticmethod
    def with_engine(context: EndpointContext) -> EndpointContext:
        models = [
            model.model_copy(update={"engines": (Engine(model="embed", onnx="m.onnx"),)})
            for model in context.spec.models
        ]
        spec = context.spec.model_copy(update={"models": tuple(models)})
        return replace(context, loaded_spec=replace(context.loaded_spec, spec=spec))

    def built_in(self, context: EndpointContext) -> str:
        (planned_engine,) = planned_engines(self.with_engine(context))
        return planned_engine.image

    @pytest.mark.parametrize("tensorrt", [RELEASE_TENSORRT, "10.9.0", None])
    def test_of_the_releases_tensorrt_they_are_built_in_its_image_and_shared(
        self, folder: FleetFolder, tensorrt: str | None
    ) -> None:
        facts = {"tensorrt": tensorrt} if tensorrt else {"cuda": "12.9"}
        context = with_lock(folder, BUILT_IMAGE, key=KEY, **facts)
        assert context.engine_image == context.release_image
        assert self.built_in(context) == "sagemaker-tritonserver:25.04-py3"
        assert folder.resolve().engine_image.uri == f"{RELEASE}:25.04-py3"

    @pytest.mark.parametrize("tensorrt", ["10.14.1.48", "10.9.0.99"])
    def test_of_another_tensorrt_they_are_refused_and_never_built_in_an_image_that_says_so(
        self, folder: FleetFolder, tensorrt: str
    ) -> None:
        """Who writes a Dockerfile or a lock would decide what code builds."""
        context = with_lock(folder, BUILT_IMAGE, key=KEY, tensorrt=tensorrt)
        assert context.engine_image == context.release_image
        assert self.built_in(context) == "sagemaker-tritonserver:25.04-py3"
        assert folder.resolve().engine_image.uri == f"{RELEASE}:25.04-py3"

    @pytest.mark.parametrize("allow", ["", 'allow: {engine-in-own-image: "we know"}\n'])
    def test_a_spec_cannot_allow_itself_to_build_in_its_own_image(
        self, folder: FleetFolder, allow: str
    ) -> None:
        context = self.with_engine(with_lock(folder, BUILT_IMAGE + allow, key=KEY, tensorrt="10.14.1.48"))
        (finding,) = [finding for finding in rule_findings(context) if finding.code == "FL810"]
        assert finding.severity is Severity.ERROR
        assert "engine_builds: {own_images: true}` into environments/dev.yaml" in finding.hint

    @pytest.mark.parametrize("keys", ["", "engine_builds: {own_images: true}\n"])
    def test_an_image_of_which_nothing_is_known_builds_none(self, folder: FleetFolder, keys: str) -> None:
        folder.environment(keys)
        context = with_lock(folder, OWN_IMAGE)
        assert context.engine_image == context.release_image

    def test_of_another_tensorrt_they_are_built_in_the_image_that_serves_them_if_the_environment_allows_it(
        self, folder: FleetFolder
    ) -> None:
        folder.environment("engine_builds: {own_images: true}\n")
        context = with_lock(folder, BUILT_IMAGE, key=KEY, tensorrt="10.14.1.48")
        assert context.engine_image == context.image
        assert self.built_in(context) == f"image@{DIGEST}"
        assert folder.resolve().engine_image.uri == f"{REGISTRY}/triton-fleet-dev@{DIGEST}"

    def test_without_an_image_of_its_own_they_are_built_in_the_one_that_serves(
        self, folder: FleetFolder
    ) -> None:
        decided_context = context(folder)
        assert decided_context.engine_image == decided_context.image == decided_context.release_image
