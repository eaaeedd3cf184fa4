"""Servers of stores that run on this machine: real ones, where the registries have them."""
