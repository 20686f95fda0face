"""Application Auto Scaling as far as endpoints need it: moto's, made to refuse what AWS refuses."""
