"""Creates or adopts the log groups of an endpoint, with their retention, key and tags.

AWS actions that the function calls: logs:CreateLogGroup, PutRetentionPolicy, AssociateKmsKey,
DisassociateKmsKey, TagResource and UntagResource; cloudformation:DescribeStacks.
"""
