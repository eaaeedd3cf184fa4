"""Packages that only the session of their name builds: what needs large downloads."""
