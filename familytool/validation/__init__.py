"""The four checks of a sample: syntax, query intent, parameter schema and kinds, feasibility (paper section 3.3)."""
