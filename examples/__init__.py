"""What the library is for, on real data: each file is a program of a page."""
