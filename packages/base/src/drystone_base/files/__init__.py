"""Files: paths with a scheme, what may be reached, writing whole files, mapped memory."""
