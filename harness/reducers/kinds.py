"""The only place for how the kind of a line is spelled: its words from the outer to the inner one, with slashes."""


def joined(*words: str) -> str:
    """Return a kind; a word that is absent leaves no gap."""
    return "/".join(filter(None, words))
