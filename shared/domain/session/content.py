"""Text of any size: inline when small, in the blob store when not."""

from shared.domain.value import Value

INLINE_BYTES = 4_096
"""Design §6.1: content over 4 KB goes to the blob store, so that a commit stays small."""


class Content(Value):
    """`text` is None when the text was offloaded to `blob` and is not loaded; `bytes` is its UTF-8 length."""

    text: str | None = None
    blob: str | None = None
    bytes: int = 0

    @classmethod
    def of(cls, text: str) -> "Content":
        return cls(text=text, bytes=len(text.encode()))

    @property
    def is_large(self) -> bool:
        return self.bytes > INLINE_BYTES

    @property
    def loaded(self) -> str:
        """The text; a caller that may hold an unloaded one resolves it through the blob store first."""
        if self.text is None:
            raise ValueError("content was not loaded")
        return self.text

    def offloaded(self, blob: str) -> "Content":
        """The pointer that is stored once `blob` holds the text."""
        return Content(text=None, blob=blob, bytes=self.bytes)
