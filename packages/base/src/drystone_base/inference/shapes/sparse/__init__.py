"""Shape functions of sparse and ragged ops."""
