"""Which models agents may have in this deployment (design §9). How models differ: `model_catalogue.py`."""

import re
from typing import NamedTuple

FAMILIES = {
    "anthropic": r"claude-.+",
    "bedrock": r"([a-z-]+\.)?anthropic\.claude-.+",
    "openai": r"(gpt-.+|o\d.*)",
}
"""How the names of a provider's own models look. A name that does not fit is a model of somebody else's server, one
that was tuned, or a mistake.
"""


class AllowedModels(NamedTuple):
    """`listed`: exact names; empty: there is no list. `own`: the deployment's model, allowed anyhow. `others_servers`:
    providers' names stand for any server, whose models are called anything.
    """

    listed: frozenset[str] = frozenset()
    own: str = ""
    others_servers: bool = False

    def may_call(self, model: str) -> bool:
        """Without a list an agent that was stored before goes on, whatever its model is called."""
        return not self.listed or model == self.own or model in self.listed

    def refusal(self, provider: str | None, model: str) -> str | None:
        """Why an agent may not be given the model, as a sentence; None: it may. `provider` None: the deployment's,
        whichever that is.
        """
        if self.listed:
            names = ", ".join(sorted(self.listed))
            return None if self.may_call(model) else f"This environment allows these models: {names}."
        if self.others_servers or model == self.own or _is_known(provider, model):
            return None
        return (
            "No model of this provider is called like that. To allow it all the same, an operator names it in "
            "`allowed_models` of the environment, with every other model that agents may have."
        )


def _is_known(provider: str | None, model: str) -> bool:
    if provider == "offline":
        return True  # it has one model, whatever it is called
    families = FAMILIES.values() if provider is None else (FAMILIES.get(provider, ""),)
    return any(re.fullmatch(family, model) for family in families)


def provider_of(model: str) -> str:
    """The provider whose own models are called like that; empty: none that is known."""
    return next((provider for provider in FAMILIES if _is_known(provider, model)), "")
