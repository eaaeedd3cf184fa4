"""What outlives a node: variables, resources, a step, and what may stop it."""
