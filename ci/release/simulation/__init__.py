"""Releases of many dates on a local index: what resolves, installs and runs (S2)."""
