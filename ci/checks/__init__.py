"""Promises of the repository, one per module: `python -m ci.checks.NAME`.

Every module has `find(root, …) -> list[str]`, one line per broken promise, and a `main`.
"""
