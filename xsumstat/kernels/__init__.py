"""Loops compiled by numba: they take arrays and fill a given array. They import only each other."""
