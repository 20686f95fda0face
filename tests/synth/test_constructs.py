"""Promises of each construct, read off the template."""

from __future__ import annotations

import json

import pytest
from aws_cdk.assertions import Match, Template

from tests.support.fleet_folder import ENVIRONMENT, SPEC, FleetFolder
from tests.synth.conftest import Synth, templates
from tests.synth.resources import BUCKET, SCALING_KEYS, only_resource, statements
from triton_fleet.context.machines import OWN_MODEL


class TestArtifactBucket:
    def test_it_is_encrypted_versioned_private_and_logged(self, template: Synth) -> None:
        template("", "triton-fleet-dev").has_resource_properties(
            "AWS::S3::Bucket",
            {
                "BucketName": BUCKET,
                "BucketEncryption": Match.any_value(),
                "VersioningConfiguration": {"Status": "Enabled"},
                "PublicAccessBlockConfiguration": {
                    "BlockPublicAcls": True,
                    "BlockPublicPolicy": True,
                    "IgnorePublicAcls": True,
                    "RestrictPublicBuckets": True,
                },
                "LoggingConfiguration": Match.any_value(),
            },
        )

    def test_it_outlives_its_stack_but_not_a_first_deploy_that_failed(self, template: Synth) -> None:
        kept_value = {"DeletionPolicy": "RetainExceptOnCreate", "UpdateReplacePolicy": "Retain"}
        template("", "triton-fleet-dev").all_resources("AWS::S3::Bucket", kept_value)

    def test_it_refuses_all_access_without_tls(self, template: Synth) -> None:
        template("", "triton-fleet-dev").has_resource_properties(
            "AWS::S3::BucketPolicy",
            {
                "PolicyDocument": {
                    "Statement": Match.array_with(
                        [
                            Match.object_like(
                                {
                                    "Effect": "Deny",
                                    "Action": "s3:*",
                                    "Condition": {"Bool": {"aws:SecureTransport": "false"}},
                                }
                            )
                        ]
                    )
                }
            },
        )

    def test_an_upload_that_broke_off_is_cleaned_up(self, template: Synth) -> None:
        rule = {"AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7}}
        template("", "triton-fleet-dev").has_resource_properties(
            "AWS::S3::Bucket",
            {"LifecycleConfiguration": {"Rules": Match.array_with([Match.object_like(rule)])}},
        )

    def test_an_environment_may_name_a_bucket_which_then_is_neither_made_nor_configured(
        self, folder: FleetFolder
    ) -> None:
        folder.environment("artifact_bucket: our-models\n")
        made_templates = templates(folder)
        made_templates["triton-fleet-dev"].resource_count_is("AWS::S3::Bucket", 0)
        assert "our-models" in json.dumps(
            made_templates["triton-fleet-dev"].find_resources("AWS::IAM::Policy")
        )
        (model,) = (
            made_templates["triton-fleet-dev-sentences"].find_resources("AWS::SageMaker::Model").values()
        )
        url = model["Properties"]["PrimaryContainer"]["ModelDataUrl"]
        assert url.startswith("s3://our-models/endpoints/sentences/")


class TestEndpointRole:
    def test_only_sagemaker_in_this_account_assumes_it(self, template: Synth) -> None:
        (trust,) = only_resource(template(), "AWS::IAM::Role")["Properties"]["AssumeRolePolicyDocument"][
            "Statement"
        ]
        assert trust["Principal"] == {"Service": "sagemaker.amazonaws.com"}
        assert trust["Condition"] == {"StringEquals": {"aws:SourceAccount": "111122223333"}}

    def test_it_reads_the_endpoints_own_archives_and_no_others(self, template: Synth) -> None:
        granted_statements = statements(template())
        assert granted_statements["ReadArchives"]["Action"] == "s3:GetObject"
        assert (
            granted_statements["ReadArchives"]["Resource"] == f"arn:aws:s3:::{BUCKET}/endpoints/sentences/*"
        )
        assert granted_statements["ListArchives"]["Condition"] == {
            "StringLike": {"s3:prefix": ["endpoints/sentences/*"]}
        }

    def test_it_pulls_from_the_account_that_really_keeps_the_image(self, folder: FleetFolder) -> None:
        folder.write("environments/dev.yaml", ENVIRONMENT.replace("us-east-1", "af-south-1"))
        folder.spec(base=SPEC.replace("g5", "g4dn"))
        repository = "arn:aws:ecr:af-south-1:626614931356:repository/sagemaker-tritonserver"
        template = templates(folder)["triton-fleet-dev-sentences"]
        assert statements(template)["PullImage"]["Resource"] == repository

    def test_it_writes_to_the_endpoints_own_logs_and_namespace(self, template: Synth) -> None:
        granted_statements = statements(template())
        group = "arn:aws:logs:us-east-1:111122223333:log-group:"
        assert granted_statements["WriteLogs"]["Resource"] == [
            f"{group}/aws/sagemaker/Endpoints/sentences",
            f"{group}/aws/sagemaker/Endpoints/sentences:*",
            f"{group}/triton-fleet/sentences/metrics",
            f"{group}/triton-fleet/sentences/metrics:*",
        ]
        namespaces = ["/aws/sagemaker/*", "TritonFleet/sentences"]
        assert granted_statements["PublishMetrics"]["Condition"] == {
            "StringLike": {"cloudwatch:namespace": namespaces}
        }

    def test_instance_metrics_are_published_with_it_also_where_tritons_are_off(self, template: Synth) -> None:
        statement = statements(template("metrics: {triton: false}\n"))["PublishMetrics"]
        assert statement == {
            "Sid": "PublishMetrics",
            "Effect": "Allow",
            "Action": "cloudwatch:PutMetricData",
            "Resource": "*",
            "Condition": {"StringLike": {"cloudwatch:namespace": ["/aws/sagemaker/*"]}},
        }

    def test_only_what_knows_no_resource_is_granted_on_all(self, template: Synth) -> None:
        everywhere = {
            sid for sid, statement in statements(template()).items() if statement["Resource"] == "*"
        }
        assert everywhere == {"LogInToRegistry", "PublishMetrics"}

    def test_in_china_everything_is_of_that_partition(self, template: Synth, folder: FleetFolder) -> None:
        folder.write("environments/dev.yaml", ENVIRONMENT.replace("us-east-1", "cn-north-1"))
        granted_statements = statements(template())
        assert "arn:aws:" not in json.dumps(granted_statements)
        assert granted_statements["PullImage"]["Resource"].startswith(
            "arn:aws-cn:ecr:cn-north-1:727897471807:"
        )


class TestTritonModel:
    def test_it_names_image_archive_and_environment(self, template: Synth) -> None:
        template("container: {thread_count: 16}\n").has_resource_properties(
            "AWS::SageMaker::Model",
            {
                "PrimaryContainer": {
                    "Image": "763104351884.dkr.ecr.us-east-1.amazonaws.com/sagemaker-tritonserver:25.04-py3",
                    "Mode": "SingleModel",
                    "ModelDataUrl": f"s3://{BUCKET}/endpoints/sentences/{'a' * 64}.tar.gz",
                    "Environment": Match.object_like(
                        {
                            "SAGEMAKER_TRITON_DEFAULT_MODEL_NAME": "embed",
                            "SAGEMAKER_TRITON_THREAD_COUNT": "16",
                        }
                    ),
                }
            },
        )

    def test_uncompressed_files_are_a_model_data_source(self, folder: FleetFolder) -> None:
        folder.spec(base=SPEC.replace("repository: ", "compression: none, repository: "))
        model = only_resource(templates(folder)["triton-fleet-dev-sentences"], "AWS::SageMaker::Model")
        container = model["Properties"]["PrimaryContainer"]
        assert "ModelDataUrl" not in container
        assert container["ModelDataSource"]["S3DataSource"] == {
            "CompressionType": "None",
            "S3DataType": "S3Prefix",
            "S3Uri": f"s3://{BUCKET}/endpoints/sentences/{'a' * 64}/",
        }

    def test_it_has_no_name_of_ours_and_so_can_be_replaced(self, template: Synth) -> None:
        assert "ModelName" not in only_resource(template(), "AWS::SageMaker::Model")["Properties"]

    def test_it_waits_for_the_roles_permissions(self, template: Synth) -> None:
        stack_template = template()
        (policy,) = stack_template.find_resources("AWS::IAM::Policy")
        assert policy in only_resource(stack_template, "AWS::SageMaker::Model")["DependsOn"]


class TestTritonEndpoint:
    def test_the_variant_has_the_instance_the_driver_and_the_timeouts(self, template: Synth) -> None:
        template("timeouts: {startup: 15m}\n").has_resource_properties(
            "AWS::SageMaker::EndpointConfig",
            {
                "ProductionVariants": [
                    Match.object_like(
                        {
                            "VariantName": "AllTraffic",
                            "InstanceType": "ml.g5.xlarge",
                            "InitialInstanceCount": 1,
                            "InferenceAmiVersion": "al2-ami-sagemaker-inference-gpu-3-1",
                            "ContainerStartupHealthCheckTimeoutInSeconds": 900,
                            "ModelDataDownloadTimeoutInSeconds": 600,
                        }
                    )
                ],
                "MetricsConfig": {"EnableDetailedObservability": False, "EnableEnhancedMetrics": False},
                "EndpointConfigName": Match.absent(),
            },
        )

    def test_only_the_endpoint_has_a_fixed_name(self, template: Synth) -> None:
        template().has_resource_properties("AWS::SageMaker::Endpoint", {"EndpointName": "sentences"})

    def test_a_scaled_endpoint_keeps_its_instances_when_it_is_updated(self, template: Synth) -> None:
        scaled_properties = only_resource(template(SCALING_KEYS), "AWS::SageMaker::Endpoint")["Properties"]
        kinds = [
            variant_property["VariantPropertyType"]
            for variant_property in scaled_properties["ExcludeRetainedVariantProperties"]
        ]
        assert scaled_properties["RetainAllVariantProperties"] is True
        assert kinds == ["DataCaptureConfig", "DesiredWeight"]
        plain = only_resource(template(), "AWS::SageMaker::Endpoint")["Properties"]
        assert "RetainAllVariantProperties" not in plain

    def test_raw_properties_reach_the_template(self, template: Synth) -> None:
        stack_template = template(
            "cloudformation: {EndpointConfig: {ProductionVariants.0.EnableSSMAccess: false}}\n"
        )
        (variant,) = only_resource(stack_template, "AWS::SageMaker::EndpointConfig")["Properties"][
            "ProductionVariants"
        ]
        assert variant["EnableSSMAccess"] is False
        assert variant["InstanceType"] == "ml.g5.xlarge"

    @pytest.mark.parametrize(
        "raw",
        ["{ProductionVariants.0.InstancePools: POOLS}", "{ProductionVariants.0: {InstancePools: POOLS}}"],
    )
    def test_raw_instance_pools_stand_in_place_of_the_instance_type(self, template: Synth, raw: str) -> None:
        pools = "[{InstanceType: ml.g5.xlarge, Priority: 1}, {InstanceType: ml.g6.xlarge, Priority: 2}]"
        stack_template = template(f"cloudformation: {{EndpointConfig: {raw.replace('POOLS', pools)}}}\n")
        (variant,) = only_resource(stack_template, "AWS::SageMaker::EndpointConfig")["Properties"][
            "ProductionVariants"
        ]
        assert "InstanceType" not in variant
        assert [instance_pool["InstanceType"] for instance_pool in variant["InstancePools"]] == [
            "ml.g5.xlarge",
            "ml.g6.xlarge",
        ]
        assert variant["InitialInstanceCount"] == 1

    def test_so_do_pools_that_cloudformation_computes(self, template: Synth) -> None:
        pools = "{Fn::If: [Large, [], {Ref: AWS::NoValue}]}"
        raw = f"cloudformation: {{EndpointConfig: {{ProductionVariants.0.InstancePools: {pools}}}}}\n"
        stack_template = template(f"{raw}allow: {{FL347: a trial}}\n")
        (variant,) = only_resource(stack_template, "AWS::SageMaker::EndpointConfig")["Properties"][
            "ProductionVariants"
        ]
        assert "InstanceType" not in variant

    def test_a_shadow_variant_names_the_model_of_the_spec_by_its_logical_id(self, template: Synth) -> None:
        stack_template = template()
        assert list(stack_template.find_resources("AWS::SageMaker::Model")) == [OWN_MODEL]


class TestEndpointDashboard:
    def body(self, template: Template) -> str:
        return str(only_resource(template, "AWS::CloudWatch::Dashboard")["Properties"]["DashboardBody"])

    def test_sagemakers_metrics_have_the_endpoints_dimensions(self, template: Synth) -> None:
        widgets = json.loads(self.body(template()))["widgets"]
        plain = [m for w in widgets for m in w["properties"].get("metrics", []) if len(m) > 1]
        named_rows = {(metric[0], metric[1]) for metric in plain}
        assert ("AWS/SageMaker", "ModelLatency") in named_rows
        assert ("/aws/sagemaker/Endpoints", "GPUMemoryUtilization") in named_rows
        assert {tuple(metric[2:6]) for metric in plain} == {
            ("EndpointName", "sentences", "VariantName", "AllTraffic")
        }

    def test_tritons_metrics_are_searched_in_the_endpoints_namespace(self, template: Synth) -> None:
        body = self.body(template())
        assert r"Namespace=\"TritonFleet/sentences\" MetricName=\"nv_inference_queue_duration_us\"" in body
        assert "nv_inference" not in self.body(template("metrics: {triton: false}\n"))

    def test_an_environment_without_dashboards_has_none_but_keeps_its_queries(
        self, folder: FleetFolder
    ) -> None:
        folder.environment("dashboards: false\n")
        template = templates(folder)["triton-fleet-dev-sentences"]
        template.resource_count_is("AWS::CloudWatch::Dashboard", 0)
        template.resource_count_is("AWS::Logs::QueryDefinition", 2)


class TestEndpointQueries:
    def test_they_are_offered_in_a_folder_of_the_endpoint_for_its_log(self, template: Synth) -> None:
        queries = template().find_resources("AWS::Logs::QueryDefinition").values()
        properties = [query["Properties"] for query in queries]
        assert {entry["Name"] for entry in properties} == {
            "TritonFleet/sentences/errors",
            "TritonFleet/sentences/slow starts",
        }
        assert [entry["LogGroupNames"] for entry in properties] == [
            ["/aws/sagemaker/Endpoints/sentences"]
        ] * 2
        assert all(entry["QueryString"].startswith("fields ") for entry in properties)

    def test_they_are_saved_once_their_log_group_is_there(self, template: Synth) -> None:
        stack_template = template()
        (resource,) = stack_template.find_resources("Custom::EndpointLogs")
        queries = stack_template.find_resources("AWS::Logs::QueryDefinition").values()
        assert [query.get("DependsOn") for query in queries] == [[resource]] * 2
