"""``python -m drystone_base``: the same as ``drystone``."""

from drystone_base.cli import main

main()
