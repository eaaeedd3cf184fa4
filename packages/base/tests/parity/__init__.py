"""Random cases of every op, held against TensorFlow: drawing, judging, recording."""
