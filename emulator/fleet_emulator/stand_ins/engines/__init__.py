"""Stand-ins for the GPU and trtexec, marked as such in every line: engines are built for show only."""
