"""Shape functions of math ops."""
