"""What the whole package uses: argument checks, classes of warnings, shared docstrings, words that users try first."""
