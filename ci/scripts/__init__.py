"""Small programs that nox and people run from the repository root: `python -m ci.scripts.NAME`."""
