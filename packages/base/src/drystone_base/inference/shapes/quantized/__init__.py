"""Shape functions of quantization ops."""
