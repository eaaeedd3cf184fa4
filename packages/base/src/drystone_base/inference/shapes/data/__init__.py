"""Shape functions of dataset ops."""
