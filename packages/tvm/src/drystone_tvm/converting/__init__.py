"""SavedModels converted to ones that carry compiled libraries: ``drystone convert``."""
