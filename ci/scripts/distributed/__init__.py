"""Graphs and gradients over processes whose environments hold nothing but wheels."""
