"""Backends of plugins, by their C interface."""
