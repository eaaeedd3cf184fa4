"""Gradient rules of variables."""
