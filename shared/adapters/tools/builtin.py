"""The builtin tools over a tenant's storage (design §7). Every result is a sentence of ours or data from outside."""

from collections.abc import Mapping
from typing import Any

from shared.adapters.tools.listing import list_files
from shared.adapters.tools.refusals import missing, not_text, usable_path
from shared.adapters.tools.weather import Weather
from shared.domain.errors import ToolFailed
from shared.domain.fence import Outside
from shared.domain.path import PathRefused
from shared.domain.tool import ToolSpec
from shared.ports.files import FileMissing, FileStore
from shared.ports.tools import CallContext
from shared.settings import Settings


class BuiltinTools:
    """A Toolbox. `update_plan` is none of its tools: it changes the session, in the commit of its turn."""

    def __init__(self, files: FileStore, settings: Settings) -> None:
        self._files = files
        self._max_file_bytes = settings.max_file_bytes
        self._weather = Weather(settings.geocoding_base_url, settings.weather_base_url)

    def run(self, spec: ToolSpec, arguments: Mapping[str, Any], context: CallContext) -> str | Outside:
        tenant = context.tenant
        try:
            match spec.name:
                case "list_files":
                    path, recursive = arguments.get("path", ""), arguments.get("recursive", True)
                    listing = list_files(self._files, tenant, path, recursive)
                    return Outside("listing", path or "/", listing, exact=True)
                case "read_file":
                    return self._read(tenant, usable_path(arguments["path"]))
                case "create_file":
                    path = usable_path(arguments["path"])
                    return self._create(tenant, path, arguments["content"], context.rerun)
                case "delete_file":
                    return self._delete(tenant, usable_path(arguments["path"]), context.rerun)
                case "get_weather":
                    location = arguments["location"]
                    return Outside("weather", location, self._weather.at(location, context.deadline_seconds))
        except PathRefused as refused:  # a rule of the store's own, the length of its keys
            raise ToolFailed(f"{refused}.") from None
        raise ToolFailed(f"there is no tool {spec.name} here. Try another way.")

    def _read(self, tenant: str, path: str) -> Outside:
        try:
            data = self._files.read(tenant, path)
        except FileMissing:
            raise missing(self._files, tenant, path) from None
        try:
            text = data.decode()
        except UnicodeDecodeError:
            raise not_text(path, data) from None
        if "\0" in text:
            raise not_text(path, data)
        return Outside("file", path, text, exact=True)

    def _create(self, tenant: str, path: str, content: str, rerun: bool) -> str:
        """On a rerun the file that is there may be this call's own: it is told as the first attempt would have."""
        try:
            data = content.encode()
        except UnicodeEncodeError:
            raise ToolFailed(
                "the content has half of a surrogate pair, which is not valid Unicode."
            ) from None
        if len(data) > self._max_file_bytes:
            raise ToolFailed(
                f"the content has {len(data)} bytes, a file at most {self._max_file_bytes}. Split it up."
            )
        new = self._files.write(tenant, path, data)
        done = "Created" if new or rerun else "Replaced"
        return f"{done} {path}, {len(data)} {'byte' if len(data) == 1 else 'bytes'}."

    def _delete(self, tenant: str, path: str, rerun: bool) -> str:
        try:
            self._files.delete(tenant, path)
        except FileMissing:
            if rerun:  # an attempt before this one deleted it and died
                return f"Deleted {path}."
            raise missing(self._files, tenant, path) from None
        return f"Deleted {path}."
