"""From tool documents to samples whose golden answers are computed by executing relation paths."""
