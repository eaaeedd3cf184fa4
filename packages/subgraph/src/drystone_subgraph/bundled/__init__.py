"""The backends that come with this package."""
