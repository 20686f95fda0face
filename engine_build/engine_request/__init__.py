"""What both ways of a build share: the request, the artifact bucket, and how a build ends."""
