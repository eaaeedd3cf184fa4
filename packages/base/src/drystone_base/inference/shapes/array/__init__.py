"""Shape functions of array ops."""
