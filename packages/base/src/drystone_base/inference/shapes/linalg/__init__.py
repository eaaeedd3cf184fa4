"""Shape functions of linear algebra ops."""
