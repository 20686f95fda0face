"""Stand-ins for programs that this machine lacks: docker, trtexec, nvidia-smi, and backends of Triton."""
