"""Shape functions of input and output ops."""
