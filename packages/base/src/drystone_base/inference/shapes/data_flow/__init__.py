"""Shape functions of data flow ops."""
