"""Application Auto Scaling for endpoints: moto's, made to refuse what AWS refuses."""
