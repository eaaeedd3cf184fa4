"""Gradient rules of array ops."""
