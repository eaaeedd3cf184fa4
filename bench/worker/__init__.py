"""A process that holds one runtime with one case; each runtime is a module of this package.

Such a module has ``start()``, which imports the runtime, and ``prepare(case, threads)``, which
gives a function of the fed arrays and one that brings variables back (or None). Raises
``NoForm`` where the runtime does not take the case in any form that there is. Only NumPy and the
runtime may be imported here: each runs in an environment of its own.
"""
