"""Shape functions of random ops."""
