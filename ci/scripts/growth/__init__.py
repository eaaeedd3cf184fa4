"""Whether what is done to graphs and files costs time in proportion to their size."""
