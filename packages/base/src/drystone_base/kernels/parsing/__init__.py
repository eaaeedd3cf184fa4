"""Reference kernels of parsing ops."""
