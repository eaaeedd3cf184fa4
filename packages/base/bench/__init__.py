"""Benchmarks of drystone: ``python -m bench`` from ``packages/base``, or ``nox -s bench``."""
