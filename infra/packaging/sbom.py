"""`make sbom`: what each Lambda's zip and each set of tools contain, as CycloneDX JSON in build/sbom. Folders of Python
tools are those of ACTA_TOOLS_DIR, else of `tools`.

It lists what is there: the libraries in a zip by their metadata in it, after what is not needed was taken out.
"""

import base64
import gzip
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from email.message import Message
from email.parser import HeaderParser
from pathlib import Path
from typing import Any, get_args

from infra.environments import DEV
from infra.packaging.bundle import ROOT, Bundler
from infra.packaging.install import target_of
from infra.packaging.tool_folders import build_folder
from infra.sizing import FunctionName
from infra.tool_folders import folders_in, tools_directory

OUT = ROOT / "build" / "sbom"
TOOLS = {"tools": ".venv", "local-aws": ".venv-emulator", "local-runtime": ".venv-runtime"}
"""Name of the document -> the environment that it describes."""

Json = dict[str, Any]


def main() -> int:
    OUT.mkdir(parents=True, exist_ok=True)
    bundler = Bundler(target_of(DEV))
    for function in get_args(FunctionName):
        built = bundler.build(function)
        components = (*python_packages(built), *page_packages(built))
        _write(f"function-{function}", document(f"acta-{function}", *components))
    for name, environment in TOOLS.items():
        (installed,) = (ROOT / environment).glob("lib/python*/site-packages")
        _write(name, document(f"acta-{name}", *python_packages(installed)))
    for folder in folders_in(tools_directory(os.environ), DEV.name):
        contents = build_folder(folder, target_of(DEV)).path
        _write(f"tool-{folder.name}", document(f"acta-tool-{folder.name}", *python_packages(contents)))
    lock = json.loads((ROOT / "package-lock.json").read_text(encoding="utf-8"))
    _write("npm", document("acta-npm", *npm_packages(lock)))
    return 0


def document(name: str, *components: Json) -> Json:
    """The same components give the same document: it has no time and no random number."""
    found = {each["bom-ref"]: each for each in components}
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "application", "bom-ref": name, "name": name}},
        "components": [found[each] for each in sorted(found)],
    }


def python_packages(folder: Path) -> Iterator[Json]:
    """What is installed in the folder."""
    for metadata in sorted(folder.glob("*.dist-info/METADATA")):
        headers = HeaderParser().parsestr(metadata.read_text(encoding="utf-8"))
        name = re.sub(r"[-_.]+", "-", headers["Name"]).lower()
        url = f"pkg:pypi/{name}@{headers['Version']}"
        yield _library(name, headers["Version"], url, **_licence(headers))


def page_packages(folder: Path) -> Iterator[Json]:
    """What the page of the API's document is made of. Its bundle says which version it is."""
    for packed in sorted(folder.rglob("swagger-ui-bundle.js.gz")):
        text = gzip.decompress(packed.read_bytes()).decode()
        version = text.partition('PACKAGE_VERSION:"')[2].partition('"')[0]
        if not version:
            raise ValueError(f"{packed.name} does not say which version it is")
        licence = {"licenses": [{"expression": "Apache-2.0"}]}
        yield _library("swagger-ui-dist", version, f"pkg:npm/swagger-ui-dist@{version}", **licence)


def npm_packages(lock: Mapping[str, Any]) -> Iterator[Json]:
    """What package-lock.json pins."""
    for place, package in lock["packages"].items():
        name = place.rpartition("node_modules/")[2]
        if not name:
            continue  # the project itself
        url = f"pkg:npm/{name.replace('@', '%40')}@{package['version']}"
        licence = {"licenses": [{"license": {"name": package["license"]}}]} if "license" in package else {}
        algorithm, _, digest = package["integrity"].partition("-")
        content = base64.b64decode(digest).hex()
        hashes = [{"alg": f"SHA-{algorithm.removeprefix('sha')}", "content": content}]
        yield _library(name, package["version"], url, hashes=hashes, **licence)


def _library(name: str, version: str, url: str, **more: Any) -> Json:
    return {"type": "library", "bom-ref": url, "name": name, "version": version, "purl": url, **more}


def _licence(headers: Message) -> Json:
    """Where the package says it as an SPDX expression or in a word; long texts are no names."""
    expression, name = headers.get("License-Expression"), headers.get("License")
    if expression:
        return {"licenses": [{"expression": expression}]}
    if name and "\n" not in name and len(name) <= 100 and name != "UNKNOWN":
        return {"licenses": [{"license": {"name": name}}]}
    return {}


def _write(name: str, content: Json) -> None:
    path = OUT / f"{name}.cdx.json"
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    print(f"sbom: {path.relative_to(ROOT)}: {len(content['components'])} components")


if __name__ == "__main__":
    sys.exit(main())
