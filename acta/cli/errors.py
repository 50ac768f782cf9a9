"""What a command may end with; `main` turns each into one line on stderr and an exit code, never a traceback.

CliError            exit code 2: wrong use, nothing to reach, refused
  Unreachable       no answer from the deployment after bounded retries
  ApiRefusal        the deployment answered with an error
"""


class CliError(Exception):
    """The message is what a person reads: one line, what is wrong and what to do."""


class Unreachable(CliError):
    pass


class ApiRefusal(CliError):
    """`status`: HTTP status; `code`: the envelope's error code, empty when the gateway itself refused."""

    def __init__(self, message: str, status: int, code: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.code = code
