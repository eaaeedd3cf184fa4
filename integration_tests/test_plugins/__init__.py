"""Plugins as their authors and users have them: built, installed, loaded."""
