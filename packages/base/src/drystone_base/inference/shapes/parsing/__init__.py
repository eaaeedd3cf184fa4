"""Shape functions of parsing ops."""
