"""Shape functions of control flow ops."""
