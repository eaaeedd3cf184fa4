"""Reference kernels of image ops."""
