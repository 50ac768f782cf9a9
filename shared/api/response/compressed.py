"""Whether whoever asks takes an answer compressed."""


def takes_gzip(accepted: str) -> bool:
    """`accepted`: an `Accept-Encoding` (RFC 9110, 12.5.3). A weight of 0 refuses."""
    for each in accepted.split(","):
        name, _, weight = each.strip().lower().partition(";")
        if name.strip() == "gzip":
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
