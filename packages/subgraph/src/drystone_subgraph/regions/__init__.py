"""Growing regions of graphs that leave no cycle, and cutting them out."""
