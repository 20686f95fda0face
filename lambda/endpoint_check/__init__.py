"""Checks an endpoint after a deploy: it runs the new configuration, and answers its samples as expected.

CloudFormation treats an endpoint as updated as soon as it is in service, whatever it answers, and SageMaker
may roll an update back and report success. The check is the last resource of each endpoint's stack: if it
fails, CloudFormation rolls the stack back.

AWS actions that the functions call: sagemaker:DescribeEndpoint, sagemaker:InvokeEndpoint and
cloudformation:DescribeStacks.
"""
