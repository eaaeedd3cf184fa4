"""What every floor above stands on: errors, dtypes, settings, text and bytes."""
