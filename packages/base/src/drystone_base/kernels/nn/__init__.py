"""Reference kernels of neural network ops."""
