"""``python -m keras_drystone script.py``: a script that says ``import keras``, on drystone."""

from __future__ import annotations

import runpy
import sys


def main() -> int:
    """Run the script that the arguments name, with its own arguments."""
    if len(sys.argv) < 2:
        print("usage: python -m keras_drystone SCRIPT [ARGUMENT ...]", file=sys.stderr)
        return 2
    del sys.argv[0]
    runpy.run_path(sys.argv[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
