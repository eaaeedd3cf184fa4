"""Collectives: sums, copies and meetings of a group of processes."""
