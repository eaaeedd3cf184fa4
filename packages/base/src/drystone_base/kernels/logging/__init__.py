"""Reference kernels of logging ops."""
