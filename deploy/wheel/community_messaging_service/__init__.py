"""The installed service. Its packages are in this folder, so that their short names are not importable elsewhere."""
