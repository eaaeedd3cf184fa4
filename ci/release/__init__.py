"""Releasing one package alone: gates, version, changelog, wheels, signature, record, tag.

`nox -s release -- PACKAGE VERSION`; docs/how-to/releasing.md.
"""
