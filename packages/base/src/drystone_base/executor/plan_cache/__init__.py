"""Plans that outlive a process: what a session made of a model's file, for who loads it again.

A plan is kept in the user's cache folder by what it was made from: the bytes of the model's file,
fetches and feeds, the config, environment variables, packages, plugins, the processor. It is used
again where all of these are the same and no file of code that took part has changed since.
"""
