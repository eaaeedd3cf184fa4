"""Plugin wheels made for TensorFlow, run in drystone unchanged."""
