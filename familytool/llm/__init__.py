"""Language models: logical requests, the ledger that holds every answer, prices, and the client of OpenAI-compatible endpoints."""
