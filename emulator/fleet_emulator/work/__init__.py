"""Work that AWS does in containers, builds and jobs: here processes of this machine, without a GPU."""
