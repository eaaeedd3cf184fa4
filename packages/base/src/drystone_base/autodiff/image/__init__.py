"""Gradient rules of image ops."""
