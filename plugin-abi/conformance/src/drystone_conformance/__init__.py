"""Test suites that a plugin's author runs against the library: ``pytest --plugin path.so``.

The suites are ordinary pytest files in ``drystone_conformance.suites``; those of the modules that
the library offers are run. A capability that a plugin lacks is declared with a reason, and the
tests that need it are skipped with that reason.
"""

try:
    from drystone_conformance.capabilities import CAPABILITIES, Capabilities, read_capabilities
    from drystone_conformance.subject import Subject
except ImportError as error:
    from drystone_conformance._missing import named

    raise named(error) from None

__all__ = ["CAPABILITIES", "Capabilities", "Subject", "__version__", "read_capabilities"]

__version__ = "0.2.0"
