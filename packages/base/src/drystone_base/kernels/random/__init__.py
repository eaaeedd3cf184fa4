"""Reference kernels of random ops."""
