"""What answers look like as JSON: the types of the views, and the schemas of the OpenAPI document (ADR 64).

mypy checks the views against them, and `infra/document` makes schemas of them when Acta is built. No function imports
them while it runs, so no cold start pays for them. A class's name is the name of its schema; its docstring and those of
its fields are what readers of the document see.
"""
