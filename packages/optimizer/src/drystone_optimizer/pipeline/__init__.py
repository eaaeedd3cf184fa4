"""Passes and plugins, one after another."""
