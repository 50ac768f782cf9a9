"""Files, tools, health, and every path that does not exist."""

from functions.admin.root import root
from functions.admin.routes import build

handler = build(root()).handler
