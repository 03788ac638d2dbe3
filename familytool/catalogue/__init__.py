"""What comes with the package: tool documents, families, value tables, wordings and campaigns."""
