"""Raw data: where files are found, and what they are made of."""
