"""What is optimised: the problems of each study, and what they share."""
