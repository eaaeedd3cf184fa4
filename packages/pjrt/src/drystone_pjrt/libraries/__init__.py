"""Which PJRT plugins are installed, and opening them as drystone opens any plugin."""
