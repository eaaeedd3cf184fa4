"""What a program uses: models, sessions, configs, saving."""
