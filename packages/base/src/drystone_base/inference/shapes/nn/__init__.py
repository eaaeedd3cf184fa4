"""Shape functions of neural network ops."""
