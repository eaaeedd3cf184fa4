"""Shape functions of training ops."""
