"""Transports: who carries messages for a scheme, and engines that do."""
