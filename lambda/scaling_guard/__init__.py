"""Suspends the scaling of an endpoint's variant during an update of the endpoint, and restores it.

SageMaker refuses to change an endpoint while its instances come and go, and to change the instance type of a
variant that is registered with Application Auto Scaling. Each endpoint stack therefore has two custom
resources, "before" and "after" its endpoint; CloudFormation calls both for each new configuration and each
other set of policies, and those that were called again when it rolls back, with the properties swapped.
Neither depends on an order: each call compares the running configuration with the requested one.

A scaling is always registered as it has to be, or saved in S3, or both; every call may be repeated after a
crash anywhere.

AWS actions that the functions call: sagemaker:DescribeEndpoint and DescribeEndpointConfig;
application-autoscaling:DescribeScalableTargets, DescribeScalingPolicies, DescribeScheduledActions,
DescribeScalingActivities, DeregisterScalableTarget, RegisterScalableTarget, PutScalingPolicy,
DeleteScalingPolicy, PutScheduledAction and ListTagsForResource; s3:ListBucket of scaling-guard/*, and
s3:GetObject, PutObject and DeleteObject there; cloudformation:DescribeStacks.
Application Auto Scaling asks of its caller besides: sagemaker:UpdateEndpointWeightsAndCapacities,
cloudwatch:DescribeAlarms, PutMetricAlarm and DeleteAlarms, and application-autoscaling:TagResource for a
target with tags (source: its user guide, identity-based policies).
"""
