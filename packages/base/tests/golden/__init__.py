"""Tests against what TensorFlow was recorded to answer."""
