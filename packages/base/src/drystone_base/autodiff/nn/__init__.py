"""Gradient rules of neural network ops."""
