"""Suites that run at night: named cases, results that are kept, one page of the last runs."""
