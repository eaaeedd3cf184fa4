"""Gradient rules of samples."""
