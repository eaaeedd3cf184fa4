"""From a graph to fetched values: plans, and the executors that run them."""
