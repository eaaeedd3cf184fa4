"""Shape functions of logging ops."""
