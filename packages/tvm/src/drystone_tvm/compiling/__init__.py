"""Regions of a graph compiled by TVM: rules by op, a schedule, a library with what it states."""
