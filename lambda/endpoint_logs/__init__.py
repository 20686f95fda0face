"""Makes the log groups of an endpoint, or takes them over, with their retention, key and tags.

AWS actions that the function calls: logs:CreateLogGroup, PutRetentionPolicy, AssociateKmsKey,
DisassociateKmsKey, TagResource and UntagResource; cloudformation:DescribeStacks.
"""
