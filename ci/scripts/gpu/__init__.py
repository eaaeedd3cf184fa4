"""``python -m ci.scripts.gpu``: what drystone-gpu computes on a GPU, and how fast."""
