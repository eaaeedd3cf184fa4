"""Transactions and options of a scheme's filesystem: ``with transaction("ram://box"): ...``."""

from __future__ import annotations

from drystone_base.host.filesystem_options import (
    Option,
    Transaction,
    get_option,
    option_names,
    options,
    set_option,
    set_options,
    transaction,
    transaction_of,
)

__all__ = [
    "Option",
    "Transaction",
    "get_option",
    "option_names",
    "options",
    "set_option",
    "set_options",
    "transaction",
    "transaction_of",
]
