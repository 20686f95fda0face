"""CodeBuild: moto's projects, whose builds really run, as processes of this machine."""
