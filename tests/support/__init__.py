"""What several tests use: fleets in folders, embedded AWS services, stand-ins, texts and samples."""
