"""SageMaker for endpoints: moto's, made to refuse what AWS refuses and to really serve."""
