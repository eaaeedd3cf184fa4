"""Datasets: what is behind a dataset's variant, one file per group of kinds."""
