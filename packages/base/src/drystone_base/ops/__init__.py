"""Op definitions, attribute values, and shape and type inference."""
