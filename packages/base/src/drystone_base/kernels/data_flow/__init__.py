"""Reference kernels of data flow ops."""
