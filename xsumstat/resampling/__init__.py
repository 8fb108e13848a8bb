"""Resamples, and jobs over them: on threads or with Dask, with identical results."""
