"""Shape functions of audio ops."""
