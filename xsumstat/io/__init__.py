"""Read and write scores and results: frames, files and published data sets."""
