"""Builds on CodeBuild, each content once, whoever asks for it: engines and images."""
