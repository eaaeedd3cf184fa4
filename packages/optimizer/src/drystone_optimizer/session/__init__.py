"""What a session and the command line call."""
