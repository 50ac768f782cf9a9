"""What a call to a deployment may raise. The caller reacts to the class; the message is for a person.

ClientError
  InvalidDeployment   the API's URL or the token cannot be used; nothing was sent
  InvalidPath         a name with a part `.` or `..`, which would ask for something else; nothing was sent
  Unreachable         no answer, after a bounded number of attempts
  UnexpectedAnswer    an answer that Acta does not give, or not to what was asked
  ApiError            the deployment refused the request, or failed
"""


class ClientError(Exception):
    """The message is one line: what is wrong and, where it is known, what to do.

    It may quote what the deployment sent. Escape it before a terminal shows it.
    """

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class InvalidDeployment(ClientError):
    pass


class InvalidPath(ClientError):
    pass


class Unreachable(ClientError):
    pass


class UnexpectedAnswer(ClientError):
    pass


class ApiError(ClientError):
    """`status`: the HTTP status. `code`: the error code of the body, empty where the gateway itself answered."""

    def __init__(self, message: str, status: int, code: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.code = code


MAX_MESSAGE_CHARS = 400


def one_line(text: str, limit: int = MAX_MESSAGE_CHARS) -> str:
    """`text` without line breaks, cut at `limit` characters."""
    joined = " ".join(text.split())
    return joined if len(joined) <= limit else joined[: limit - 1] + "…"
