"""Takes the scaling of an endpoint's variant aside while its instance type changes, and brings it back.

SageMaker refuses to change the instance type of a variant that is registered with Application Auto Scaling.
Each endpoint stack therefore has two custom resources, "before" and "after" its endpoint; CloudFormation
calls both when the type changes, and those that were called again when it rolls back, with the types swapped.
Neither trusts an order: each call compares the type that the variant has with the type that it is told of.

A scaling is always registered, or saved in S3, or both; every call may be repeated after a crash anywhere.

AWS actions that the function calls: sagemaker:DescribeEndpoint and DescribeEndpointConfig;
application-autoscaling:DescribeScalableTargets, DescribeScalingPolicies, DescribeScheduledActions,
DeregisterScalableTarget, RegisterScalableTarget, PutScalingPolicy and PutScheduledAction; s3:ListBucket of
scaling-guard/*, and s3:GetObject, PutObject and DeleteObject there; cloudformation:DescribeStacks.
Application Auto Scaling asks of its caller besides: sagemaker:UpdateEndpointWeightsAndCapacities,
cloudwatch:DescribeAlarms, PutMetricAlarm and DeleteAlarms (source: its user guide, identity-based policies).
"""
