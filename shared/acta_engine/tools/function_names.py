"""Names of the Lambda functions behind tools of kind `lambda` (design §7)."""

FUNCTION_PATTERN = r"^acta-[a-z0-9-]{1,32}-tool-[a-z0-9-]{1,50}$"
"""The part before `tool` is the environment."""
MAX_FUNCTION_CHARS = 64
"""Lambda takes no longer name."""
EVERY_TENANT = "*"
"""In what an operator names by tenant: what is for every one."""


def function_prefix(env: str) -> str:
    """How the names begin in an environment. The function `tool` of Acta itself has no such name."""
    return f"acta-{env}-tool-"
