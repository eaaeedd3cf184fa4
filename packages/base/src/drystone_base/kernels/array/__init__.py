"""Reference kernels of array ops."""
