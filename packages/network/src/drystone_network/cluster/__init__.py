"""Clusters: which tasks there are, and where they listen."""
