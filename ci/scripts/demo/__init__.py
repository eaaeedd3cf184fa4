"""The demo: real models on real input, with something to look at for each.

Run `nox -s demo`, or `python -m ci.scripts.demo` where drystone and Pillow are installed.
"""
