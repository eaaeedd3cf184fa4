"""Tests of the tooling: every check finds a violation planted in a small tree."""
