"""Shape functions of string ops."""
