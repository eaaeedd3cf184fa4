"""Portable artifacts of StableHLO: read, given static shapes, and written again as text."""
