"""NaN, infinities, empties and extreme integers in every input of every op, beside TensorFlow."""
