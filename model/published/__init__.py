"""Published models: the catalogue, and the readers of other people's configs. No torch, no weights."""
