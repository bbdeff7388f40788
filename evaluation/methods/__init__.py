"""What optimises: methods of the library, of the papers and of others."""
