"""``python -m drystone``: the same as the ``drystone`` command."""

try:
    from drystone_base.cli import main
except ModuleNotFoundError as error:
    from drystone._missing import named

    raise SystemExit(f"error: {named(error)}") from None

main()
