"""The plan cache: plans that a session made of a model's file, for later processes.

``cache_key`` says when an entry is used. ``records`` reads and writes entries in the user's cache
folder, ``digest_cache`` notes digests of large files, ``background`` writes when none waits, and
``arrays`` and ``kernels`` hold a plan's constants and what of it Python computes.
"""
