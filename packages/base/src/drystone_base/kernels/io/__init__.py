"""Reference kernels of input and output ops."""
