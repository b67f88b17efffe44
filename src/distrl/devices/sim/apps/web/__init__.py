"""The web as the simulated browser knows it: a search engine, places to read about, and shops."""
