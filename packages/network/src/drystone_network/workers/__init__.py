"""Tasks: what a worker serves, and what a session asks of workers."""
