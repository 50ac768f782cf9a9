"""Lambda as it keeps versions and aliases, in memory: nothing is invoked."""

from typing import Any, NoReturn

from botocore.exceptions import ClientError

ALIAS = "live"
PAGE = 2


def refuse(code: str, operation: str) -> NoReturn:
    raise ClientError({"Error": {"Code": code, "Message": "no"}}, operation)


class Lambdas:
    """A botocore client of Lambda, as far as releases need one. `functions`: name -> its versions, oldest first, each
    with its variables; the last one is `$LATEST`. `aliases`: name -> what `live` names. `said`: what was changed.
    """

    def __init__(self, environment: str = "prod") -> None:
        self.environment = environment
        self.functions: dict[str, list[dict[str, Any]]] = {}
        self.aliases: dict[str, dict[str, Any]] = {}
        self.said: list[tuple[str, ...]] = []
        self.refuses_at: tuple[str, str] | None = None
        """The function whose alias cannot be moved, and AWS's error."""
        self._minute = 0

    def release(
        self,
        name: str,
        *functions: str,
        writes: int = 2,
        reads: int = 2,
        publishes: bool = True,
        moves: bool = True,
    ) -> None:
        """A deployment of these functions, as CloudFormation makes it."""
        self._minute += 1
        for each in functions:
            full = f"acta-{self.environment}-{each}"
            variables = {
                "ACTA_RELEASE": name,
                "ACTA_WRITE_VERSION": str(writes),
                "ACTA_READS_VERSION": str(reads),
            }
            made = {
                "Version": "$LATEST",
                "LastModified": f"2026-11-23T10:{self._minute:02}:00.000+0000",
                "Environment": {"Variables": variables},
            }
            published = self.functions.setdefault(full, [])
            if published:
                published.pop()
            published.append(made)
            if publishes:
                self.publish_version(full)
            if full not in self.aliases or moves:
                version = str(len(published) - 1) if publishes else "$LATEST"
                self.aliases[full] = {"FunctionVersion": version, "RevisionId": f"r{self._minute}"}

    def live(self) -> dict[str, str]:
        """Function -> the release that its alias names."""
        return {
            name.removeprefix(f"acta-{self.environment}-"): next(
                each["Environment"]["Variables"]["ACTA_RELEASE"]
                for each in self.functions[name]
                if each["Version"] == alias["FunctionVersion"]
            )
            for name, alias in self.aliases.items()
        }

    def publish_version(self, FunctionName: str) -> dict[str, Any]:  # noqa: N803
        versions = self.functions[FunctionName]
        latest = versions.pop()
        newest = versions[-1] if versions else None
        if newest is None or newest["Environment"] != latest["Environment"]:
            numbers = [int(each["Version"]) for each in versions]
            versions.append({**latest, "Version": str(max(numbers, default=0) + 1)})
        versions.append(latest)
        return versions[-2]

    def list_versions_by_function(self, FunctionName: str, Marker: str = "") -> dict[str, Any]:  # noqa: N803
        if FunctionName not in self.functions:
            refuse("ResourceNotFoundException", "ListVersionsByFunction")
        *numbered, latest = self.functions[FunctionName]
        all_of_them, begins = [latest, *numbered], int(Marker or 0)
        answer: dict[str, Any] = {"Versions": all_of_them[begins : begins + PAGE]}
        if begins + PAGE < len(all_of_them):
            answer["NextMarker"] = str(begins + PAGE)
        return answer

    def get_alias(self, FunctionName: str, Name: str) -> dict[str, Any]:  # noqa: N803
        if FunctionName not in self.aliases or Name != ALIAS:
            refuse("ResourceNotFoundException", "GetAlias")
        return self.aliases[FunctionName]

    def update_alias(self, **asked: Any) -> None:
        function = asked["FunctionName"]
        alias = self.get_alias(function, asked["Name"])
        if self.refuses_at is not None and self.refuses_at[0] == function:
            refuse(self.refuses_at[1], "UpdateAlias")
        if asked.get("RevisionId", alias["RevisionId"]) != alias["RevisionId"]:
            refuse("PreconditionFailedException", "UpdateAlias")
        version = asked["FunctionVersion"]
        self.aliases[function] = {"FunctionVersion": version, "RevisionId": alias["RevisionId"] + "'"}
        self.said.append(("moved", function, version))

    def delete_function(self, FunctionName: str, Qualifier: str) -> None:  # noqa: N803
        alias = self.aliases.get(FunctionName, {})
        assert alias.get("FunctionVersion") != Qualifier, "AWS refuses it"
        kept = [each for each in self.functions[FunctionName] if each["Version"] != Qualifier]
        self.functions[FunctionName] = kept
        self.said.append(("deleted", FunctionName, Qualifier))


class Stack:
    """CloudFormation's answer about the stack of the functions."""

    def __init__(self, status: str = "UPDATE_COMPLETE") -> None:
        self.status = status

    def describe_stacks(self, StackName: str) -> dict[str, Any]:  # noqa: N803
        return {"Stacks": [{"StackName": StackName, "StackStatus": self.status}]}
