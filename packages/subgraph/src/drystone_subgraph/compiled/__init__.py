"""What backends compiled: made ahead or as they are needed, kept in files."""
