"""Holding optimizers to what they promise: runs before and after, and the search for culprits."""
