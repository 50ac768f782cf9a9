"""The OpenAPI document and the page that shows it, made when Acta is built (ADR 64).

Nothing of it is written twice: routes, parameters and bodies come from the functions, answers from
the `shapes` modules of the engine's rooms, errors from their classes. `operations` has the words, and what code does
not say.
"""
