"""One Triton with several models behind one plain SageMaker endpoint; standard library only, Python 3.10."""
