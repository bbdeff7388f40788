"""Tables of candidates, read in passes."""
