"""What goes wrong with tools.

ToolError     a tool raises it: the call failed, and the model is told the text
BadTool       a function cannot be a tool; the text says what to change
SecretMissing a tool has asked for a secret that it does not have
FileRefused   a tool has asked for a file that it cannot have (a ToolError: the model is told)
"""


class ToolError(Exception):
    """The call failed, and the text tells the model why, and what it may try instead.

    Of any other exception the model is told the type alone, since its text may quote what nobody should read.
    """


class BadTool(TypeError):
    """A function cannot be a tool. The text names the function and says what to change."""


class SecretMissing(LookupError):
    """The text says where the secret has to be named or set. Of its value nothing is known."""


class FileRefused(ToolError):
    """There is no such file, the path cannot be used, or the tool may not do this. The text is for the model."""
