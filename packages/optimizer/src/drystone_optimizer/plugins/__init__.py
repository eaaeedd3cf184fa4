"""Optimizers of plugins: found, ordered, isolated."""
