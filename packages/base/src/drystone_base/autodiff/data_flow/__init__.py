"""Gradient rules of data flow ops."""
