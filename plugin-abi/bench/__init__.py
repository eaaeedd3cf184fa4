"""Measurements of the plugin ABI's own code."""
