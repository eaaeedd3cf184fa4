"""The subgraph backend: what it selects, what it compiles, and executables as operators."""
