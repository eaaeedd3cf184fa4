"""What passes and pipelines stand on: configs, rules, what a rule sees, reports."""
