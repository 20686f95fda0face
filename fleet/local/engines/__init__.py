"""Stand-ins for the GPU and for trtexec, which say so in every line: engines are built here for show only."""
