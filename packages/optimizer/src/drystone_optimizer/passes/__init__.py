"""The built-in passes: one file or folder each, in the order in which they run."""
