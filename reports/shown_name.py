"""The only place that makes a recorded name fit for a terminal, which it may not steer, and for a picture."""


def shown(name: str) -> str:
    """Write a name so that it can be shown: half a surrogate pair and what is not printable become U+FFFD."""
    whole = name.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in whole)
