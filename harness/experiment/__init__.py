"""Many attempts: in an order, several at a time, each once, and again only where an earlier try was lost."""
