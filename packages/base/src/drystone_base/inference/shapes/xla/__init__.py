"""Shape functions of XLA ops."""
