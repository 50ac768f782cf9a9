"""Which functions tools of kind `lambda` may call: those that the deployment's operator has named for the tenant
(design §7). It is checked when a tool is written, and again at every call.
"""

from acta_engine.settings import Settings
from acta_engine.tools.function_names import EVERY_TENANT, function_prefix


class FunctionRefused(Exception):
    """The message is for the admin or the model. `remedy`: a sentence for admins and operators, about what helps."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy

    @property
    def explained(self) -> str:
        """Both, for the caller of the API."""
        return f"{self}. {self.remedy}"


class FunctionGuard:
    """Applies the list of the setting `tenant_tools`."""

    def __init__(self, settings: Settings) -> None:
        self._prefix = function_prefix(settings.env)
        self._named = settings.tenant_tools
        self._is_local = settings.is_local

    def check(self, tenant: str, function: str) -> None:
        """Raises FunctionRefused."""
        if not function.startswith(self._prefix):
            raise FunctionRefused(
                f"a tool's function has a name that begins with {self._prefix}; rename the function",
                f"Deploy it as {self._prefix}… and have an operator name it in the setting tenant_tools.",
            )
        if function not in (*self._named.get(EVERY_TENANT, ()), *self._named.get(tenant, ())):
            raise FunctionRefused(
                "the operator of this deployment has not named the function for this tenant",
                f"An operator adds {function} to the setting tenant_tools of the environment, under the tenant or "
                f'under "*" for all{self._locally(function)}.',
            )

    def _locally(self, function: str) -> str:
        if not self._is_local:
            return ""
        return f': start the local stack with ACTA_TENANT_TOOLS=\'{{"*": ["{function}"]}}\''
