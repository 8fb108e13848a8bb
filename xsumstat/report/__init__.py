"""Pages: of metrics, of judges, of a shared task."""
