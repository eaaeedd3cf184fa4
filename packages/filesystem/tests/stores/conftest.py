"""Offer the stores of ``servers.py``."""

import sys
from importlib import import_module
from pathlib import Path

TOP = Path(__file__).resolve().parents[4]
sys.path[:0] = [str(Path(__file__).parent), str(TOP)]

served = import_module("servers").served
