"""Shapes, values and batches that are known before a run."""
