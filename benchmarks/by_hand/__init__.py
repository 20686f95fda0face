"""An endpoint's stack as an engineer writes it with CloudFormation's own (L1) classes, every value known.

What benchmarks/synth.py compares the project's constructs with: it reads no spec and decides nothing. Its
templates must be those of the constructs, so what is added there is to be added here.
"""
