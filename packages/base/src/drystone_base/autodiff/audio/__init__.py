"""Gradient rules of transforms of signals."""
