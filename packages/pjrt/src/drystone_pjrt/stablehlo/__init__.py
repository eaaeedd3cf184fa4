"""Regions as StableHLO text: a writer, and one file for each family of ops."""
