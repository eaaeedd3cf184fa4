"""Keras runs on drystone in all tests of this folder."""

import keras_drystone

assert keras_drystone.__version__  # imported before keras, which asks for its backend once
