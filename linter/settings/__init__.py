"""What a user and a project say: the configuration, and which TF2 is moved to."""
