"""Deadlines and Ctrl-C inside kernels that take long."""
