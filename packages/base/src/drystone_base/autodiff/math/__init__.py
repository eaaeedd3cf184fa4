"""Gradient rules of math ops."""
