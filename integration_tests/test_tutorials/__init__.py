"""Every code block in docs/, run against the installed wheels."""
