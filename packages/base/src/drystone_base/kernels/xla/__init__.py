"""Reference kernels of XLA ops."""
