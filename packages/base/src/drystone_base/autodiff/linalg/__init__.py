"""Gradient rules of linear algebra ops."""
