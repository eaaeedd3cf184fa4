"""Gradient rules of sparse tensors."""
