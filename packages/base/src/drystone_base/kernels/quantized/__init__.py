"""Reference kernels of quantization ops."""
