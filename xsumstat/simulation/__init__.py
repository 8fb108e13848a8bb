"""Scores with known true correlations, and how intervals and tests perform on them."""
