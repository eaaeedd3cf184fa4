"""Gradient rules of control flow ops and of calls of functions."""
