"""Which rewrite makes a difference, and the smallest graph that shows it."""
