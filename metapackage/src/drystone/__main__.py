"""``python -m drystone``: the same as the ``drystone`` command."""

from drystone_base.cli import main

main()
