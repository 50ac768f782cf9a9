"""Acta in one process, for tests of agents and tools: no AWS, no key."""
