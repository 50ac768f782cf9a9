"""`make sbom`: the documents name what is there."""

import base64
import gzip
import json
import re
from pathlib import Path

from infra.document.page import page
from infra.packaging.bundle import ROOT
from infra.packaging.sbom import document, npm_packages, page_packages, python_packages


def installed(folder: Path, name: str, *headers: str) -> None:
    metadata = folder / f"{name}-1.0.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text(
        "\n".join(["Metadata-Version: 2.4", f"Name: {name}", "Version: 1.0", *headers, "", "Text"])
    )


def test_a_document_names_each_installed_library_with_version_and_licence(tmp_path: Path) -> None:
    installed(tmp_path, "Typing_Extensions", "License-Expression: PSF-2.0")
    installed(tmp_path, "attrs", "License: MIT")
    installed(tmp_path, "long", "License: " + "x" * 200)
    made = document("acta-start", *python_packages(tmp_path))
    assert (made["bomFormat"], made["specVersion"]) == ("CycloneDX", "1.6")
    assert made["metadata"]["component"]["name"] == "acta-start"
    assert [(each["purl"], each.get("licenses")) for each in made["components"]] == [
        ("pkg:pypi/attrs@1.0", [{"license": {"name": "MIT"}}]),
        ("pkg:pypi/long@1.0", None),
        ("pkg:pypi/typing-extensions@1.0", [{"expression": "PSF-2.0"}]),
    ]


def test_the_same_content_gives_the_same_document(tmp_path: Path) -> None:
    installed(tmp_path, "attrs")
    twice = [json.dumps(document("x", *python_packages(tmp_path))) for _ in range(2)]
    assert twice[0] == twice[1]


def test_the_page_of_the_api_names_its_version(tmp_path: Path) -> None:
    (tmp_path / "swagger-ui-bundle.js.gz").write_bytes(gzip.compress(page()["swagger-ui-bundle.js"]))
    (only,) = document("acta-fallback", *page_packages(tmp_path))["components"]
    assert re.fullmatch(r"pkg:npm/swagger-ui-dist@5\.\d+\.\d+", only["purl"])
    assert only["licenses"] == [{"expression": "Apache-2.0"}]


def test_npm_s_packages_are_those_of_its_lock_with_their_hashes() -> None:
    digest = b"0" * 64
    lock = {
        "packages": {
            "": {"name": "acta"},
            "node_modules/a/node_modules/@x/b": {
                "version": "2.0.0", "integrity": "sha512-" + base64.b64encode(digest).decode()
            },
        }
    }  # fmt: skip
    (only,) = document("acta-npm", *npm_packages(lock))["components"]
    assert only["purl"] == "pkg:npm/%40x/b@2.0.0"
    assert only["hashes"] == [{"alg": "SHA-512", "content": digest.hex()}]


def test_every_pinned_npm_package_has_what_a_document_needs() -> None:
    lock = json.loads((ROOT / "package-lock.json").read_text(encoding="utf-8"))
    assert len(list(npm_packages(lock))) == len(lock["packages"]) - 1
