"""Tests of installed wheels; nothing here imports a source tree."""
