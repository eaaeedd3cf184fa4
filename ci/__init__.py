"""Tooling of the repository; never installed."""
