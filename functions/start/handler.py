"""The Lambda's entry point."""

from functions.start.root import root
from functions.start.routes import build

handler = build(root()).handler
