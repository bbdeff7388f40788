"""What is published: Markdown, numbers with intervals, and pictures."""
