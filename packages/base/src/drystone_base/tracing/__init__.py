"""Writing graphs as Python functions: symbolic tensors, ops as functions, variables, branches."""
