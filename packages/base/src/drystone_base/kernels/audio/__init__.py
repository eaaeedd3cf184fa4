"""Reference kernels of audio ops."""
