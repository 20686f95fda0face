"""New fleets, proposed specs and the files of CI."""
