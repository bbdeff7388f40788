"""One paper's figures."""
