"""A small catalog, with packages and lists in the form of the real ones to refresh it from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import yaml

from catalog_refresh.program import main

TODAY = "2026-11-23"
FILES = {
    "api_types.yaml": "source: botocore 1.0.0, ProductionVariantInstanceType of sagemaker\ndate: 2026-08-21\n"
    "families:\n  g5: [xlarge, 2xlarge]\n",
    "availability.yaml": "# Where types are sold.\nsource: cfn-lint 1.0.0, data\ndate: 2026-10-20\nusual_sizes: {}\n"
    "regions:\n  eu-north-1:\n    usual: [g5]\n",
    "instances.yaml": "source: people\ndate: 2026-10-20\nfamilies:\n  g5: {sizes: {xlarge: {}, 2xlarge: {}}}\n"
    "  p3: {retired: true, sizes: {2xlarge: {}}}\n",
    "limits.yaml": "source: botocore 1.0.0, shapes\ndate: 2026-08-21\nlimits:\n"
    "  tags: {value: 50, source: sagemaker TagList max}\n",
    "amis.yaml": "source: people\ndate: 2026-08-21\namis: {gpu-1: {driver: '550'}}\n",
    "images.json": json.dumps(
        {
            "source": "sagemaker-core 1.0.0, image_uri_config/sagemaker-tritonserver.json",
            "date": "2026-08-21",
            "versions": {
                "25.04": {
                    "registries": {"eu-west-1": "111111111111"},
                    "repository": "sagemaker-tritonserver",
                    "tag_prefix": "25.04-py3",
                }
            },
        }
    ),
    "registries.yaml": "source: people\ndate: 2026-08-21\nsame_as: {'25.12': '25.04'}\nclassic: {releases: []}\n",
    "releases.yaml": "source: people\ndate: 2026-08-21\nreleases: {'25.04': {}, '25.12': {}}\n",
    "prices.yaml": "source: captures\ndate: 2026-08-21\nstated: {us-east-1: {ml.g5.xlarge: 1.408}}\n",
    "other_prices.yaml": "source: EC2\ndate: 2026-08-21\nfactors: {cpu: 1.2}\n",
    "quotas.yaml": "source: people\ndate: 2026-08-21\nservice: sagemaker\nof_type: '{type} for endpoint usage'\n"
    "of_all: Number of instances across active endpoints\n",
    "properties.json": '{"source": "cfn-lint 1.0.0, schemas", "date": "2026-10-20", "resources": {"Model": {}}}',
    "create_only.yaml": "source: cfn-lint 1.0.0, schemas\ndate: 2026-10-20\ntypes: {AWS::SageMaker::Model: []}\n",
    "log_retention.yaml": "source: cfn-lint 1.0.0, schemas\ndate: 2026-10-20\ndays: [1]\n",
    "codebuild.yaml": "source: people\ndate: 2026-08-21\nquotas: {gpu: Concurrently running builds}\n",
}


@dataclass(frozen=True, kw_only=True)
class Run:
    """The program's exit code and output."""

    code: int
    lines: list[str]
    errors: list[str]


class CatalogSamples:
    """A catalog of one GPU family, and packages that know the same, until a test changes what they know."""

    def __init__(self, folder: Path) -> None:
        self.data, self.packages, self._folder = folder / "data", folder / "packages", folder
        self.data.mkdir()
        for name, text in FILES.items():
            (self.data / name).write_text(text)
        self.botocore()
        self.cfn_lint()
        self.sdk()

    def botocore(
        self,
        version: str = "1.0.0",
        *,
        types: Sequence[str] = ("ml.g5.xlarge", "ml.g5.2xlarge", "ml.p3.2xlarge"),
        amis: Sequence[str] = ("gpu-1",),
        tags: Mapping[str, int] | None = None,
    ) -> None:
        """The service model of sagemaker."""
        shapes = {
            "ProductionVariantInstanceType": {"type": "string", "enum": list(types)},
            "ProductionVariantInferenceAmiVersion": {"type": "string", "enum": list(amis)},
            "TagList": {"type": "list", **({"min": 0, "max": 50} if tags is None else tags)},
        }
        self._package("botocore", version, {"data/sagemaker/2017-07-24/service-2.json": {"shapes": shapes}})

    def cfn_lint(
        self,
        version: str = "1.0.0",
        day: str = "2026-10-20",
        regions: Mapping[str, Sequence[str]] | None = None,
        *,
        properties: Mapping[str, Any] | None = None,
        days: Sequence[int] = (1,),
    ) -> None:
        """The list of hosting types by region, its day, and the schemas of a model and a log group."""
        known_regions = {"eu-north-1": ["ml.g5.xlarge", "ml.g5.2xlarge"]} if regions is None else regions
        entries = {
            "description": "gathered",
            **{region: {"enum": types} for region, types in known_regions.items()},
        }
        folder = "data/schemas/extensions/aws_sagemaker_hosting"
        files = {
            f"{folder}/instancetype_enum.json": entries,
            "data/schemas/resources/model.json": {
                "properties": {"ModelName": {"type": "string", "description": "text", "minLength": 0}},
                "readOnlyProperties": ["/properties/ModelArn"],
                "createOnlyProperties": ["/properties/ModelName"],
                **(properties or {}),
            },
            "data/schemas/resources/log.json": {"properties": {"RetentionInDays": {"enum": list(days)}}},
            "data/schemas/providers/us-east-1.json": {
                "AWS::SageMaker::Model": "model",
                "AWS::Logs::LogGroup": "log",
            },
            "data/schemas/version.json": {"schema_date": f"{day}T22:11:15Z"},
        }
        self._package("cfn-lint", version, files, module="cfnlint")

    def sdk(self, version: str = "1.0.0", versions: Mapping[str, Mapping[str, str]] | None = None) -> None:
        """The list of Triton's images: accounts by release and region."""
        known_versions = {"25.04": {"eu-west-1": "111111111111"}} if versions is None else versions
        entries = {
            name: {
                "registries": accounts,
                "repository": "sagemaker-tritonserver",
                "tag_prefix": f"{name}-py3",
            }
            for name, accounts in known_versions.items()
        }
        files = {"image_uri_config/sagemaker-tritonserver.json": {"versions": entries}}
        self._package("sagemaker-core", version, files, module="sagemaker/core")

    def price_list(
        self,
        prices: Mapping[str, Sequence[str]],
        day: str = "2026-11-20",
        region: str = "us-east-1",
        **changes: Any,
    ) -> Path:
        """A price list of a region with the prices of each hosting type; one of training is always among them."""
        offers = [("Hosting", name, price) for name, item in prices.items() for price in item]
        products, terms = dict[str, Any](), dict[str, Any]()
        for number, (component, name, price) in enumerate([*offers, ("Training", "ml.g5.xlarge", "9.99")]):
            about = {"component": component, "instanceName": name, "regionCode": region}
            products[f"S{number}"] = {
                "sku": f"S{number}",
                "productFamily": "ML Instance",
                "attributes": about,
            }
            dimension = {"unit": "Hrs", "pricePerUnit": {"USD": price}}
            terms[f"S{number}"] = {f"S{number}.T": {"priceDimensions": {f"S{number}.T.R": dimension}}}
        document = {
            "offerCode": "AmazonSageMaker",
            "version": "20261120000000",
            "publicationDate": f"{day}T00:00:00Z",
            "products": products,
            "terms": {"OnDemand": terms},
        }
        return self._save("prices.json", document | changes)

    def quota_list(self, *names: str, service: str = "sagemaker") -> Path:
        """The answer of Service Quotas."""
        quotas = [{"ServiceCode": service, "QuotaCode": "L-1", "QuotaName": name} for name in names]
        return self._save("quotas.json", {"Quotas": quotas})

    def refresh(self, *options: str | Path) -> Run:
        """Run the program on this catalog and these packages, on `TODAY`."""
        given_options = ["--data", self.data, "--packages", self.packages, "--today", TODAY, *options]
        stream, errors = StringIO(), StringIO()
        with redirect_stdout(stream), redirect_stderr(errors):
            code = main([str(given_option) for given_option in given_options])
        return Run(code=code, lines=stream.getvalue().splitlines(), errors=errors.getvalue().splitlines())

    def read(self, file: str) -> dict[str, Any]:
        """A file of the catalog."""
        return dict(yaml.safe_load((self.data / file).read_text()))

    def texts(self) -> dict[str, str]:
        """The text of every file of the catalog."""
        return {file.name: file.read_text() for file in self.data.iterdir()}

    def _package(self, name: str, version: str, files: Mapping[str, Any], module: str = "") -> None:
        for former in self.packages.glob(f"{name.replace('-', '_')}-*.dist-info/METADATA"):
            former.unlink()
            former.parent.rmdir()
        about = self.packages / f"{name.replace('-', '_')}-{version}.dist-info" / "METADATA"
        about.parent.mkdir(parents=True)
        about.write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        for path, content in files.items():
            file = self.packages / (module or name) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(content))

    def _save(self, name: str, document: object) -> Path:
        file = self._folder / name
        file.write_text(json.dumps(document))
        return file
