"""How ops treat the examples of a batch: one file of rules per op family."""
