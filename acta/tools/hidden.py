"""Made by `make generate` from `shared/acta_engine/untrusted/visible.py`: change that, not this file."""

# fmt: off
BLANK_LETTERS = frozenset(map(chr, (
    *range(0x34f, 0x34f + 1),
    *range(0x115f, 0x1160 + 1),
    *range(0x17b4, 0x17b5 + 1),
    *range(0x180b, 0x180d + 1),
    *range(0x180f, 0x180f + 1),
    *range(0x2800, 0x2800 + 1),
    *range(0x3164, 0x3164 + 1),
    *range(0xfe00, 0xfe0f + 1),
    *range(0xffa0, 0xffa0 + 1),
    *range(0xe0100, 0xe01ef + 1),
)))
