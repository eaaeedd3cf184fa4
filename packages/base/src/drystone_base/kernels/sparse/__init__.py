"""Reference kernels of sparse and ragged ops."""
