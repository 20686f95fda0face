"""Has an isolated SageMaker job compile an engine, and stores what it leaves."""
