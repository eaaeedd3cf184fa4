"""Reference kernels of linear algebra ops."""
