"""What users of this package meet: sessions with a target, servers, the command."""
