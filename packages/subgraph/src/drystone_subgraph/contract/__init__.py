"""What backends are made of: selectors, properties, regions, executables; and what is asked for."""
