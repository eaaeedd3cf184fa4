"""Looking for plans that make a model's regions faster on this machine."""
