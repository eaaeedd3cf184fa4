"""The suites, one file per module; ``test_library`` is for every library."""
