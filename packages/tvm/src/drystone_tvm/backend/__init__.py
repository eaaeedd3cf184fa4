"""TVM as a subgraph backend: regions that are compiled as they are needed."""
