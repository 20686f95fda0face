"""The product's distributions: which ones a fleet pins, which a Python has, and how they are installed."""
