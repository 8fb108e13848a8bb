"""Coefficients, and how each is computed from two score matrices: as given, resampled, or with swapped scores."""
