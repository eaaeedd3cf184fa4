"""Shape functions of resource and lookup ops."""
