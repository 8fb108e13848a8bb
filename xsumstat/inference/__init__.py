"""Intervals and p-values from resamples or by formula; functions of plain arrays."""
