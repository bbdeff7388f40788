"""What studies write: pages, tables and pictures."""
