"""Reference kernels of math ops."""
