"""The Lambda's entry point."""

from functions.status.root import root
from functions.status.routes import build

handler = build(root()).handler
