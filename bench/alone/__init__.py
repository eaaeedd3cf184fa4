"""Benchmarks of drystone's own parts: large graphs, plugins, the optimizer's round trip."""
