"""Shape functions of image ops."""
