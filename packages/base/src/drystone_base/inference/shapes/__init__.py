"""Shape and type inference: the engine, and one file of shape functions per op family."""
