"""``python -m drystone_base.cli``: the same as ``drystone``."""

from drystone_base.cli import main

main()
