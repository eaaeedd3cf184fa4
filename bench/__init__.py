"""Benchmarks: drystone beside its peers (``python -m bench``), and its parts (``bench.alone``)."""
