"""Golden cases, one module per op family."""
