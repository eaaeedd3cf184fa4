"""Keras runs on drystone in all tests of this folder, which may import its modules."""

import sys
from pathlib import Path

import keras_drystone

assert keras_drystone.__version__  # imported before keras, which asks for its backend once
sys.path.insert(0, str(Path(__file__).parent))
