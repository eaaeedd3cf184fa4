"""Reference kernels of dataset ops."""
