"""The tenant's storage over HTTP: bytes in, the same bytes out, and no way around the tenant's folder."""

import base64
import gzip
import hashlib
import json
import socket
from urllib.parse import quote, urlsplit

import pytest

from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Json, Person, carries_the_headers, refused

LIMIT = 4 * 1024 * 1024
OUTSIDE = ["../x", "a//x", "/x", "%2e%2e/x", "..%2f..%2fother/files/x", "%252e%252e/x", "a%00b", "%ff"]
"""One for each way in which what is in front of Acta could read a path: dots, empty parts, encoded, encoded twice,
and no text at all. Every other spelling: `tests/api/test_admin.py`."""


@pytest.mark.parametrize(
    "path",
    [
        "a.txt",
        "deep/er/a b.txt",
        "é/ü 中.md",
        "a+b&c=d.txt",
        "100% sure?#.txt",
        "می\u200cخواهم 👩\u200d👧 ❤\ufe0f/~$a.txt",
        "'\"()!*;:@,.txt",
        "A",
        "v1/files/x",
    ],
)
def test_a_file_comes_back_under_its_own_name(ann: Person, path: str) -> None:
    content = "content of\r\n\ttëxt\n".encode()
    url = f"/v1/files/{quote(path, safe='/')}"
    first = ann.http.put(url, content=content)
    assert first.status_code == 201
    assert first.json()["data"] == {"path": path, "bytes": len(content)}
    carries_the_headers(first)
    assert ann.http.put(url, content=content).status_code == 200
    back = ann.http.get(url)
    assert back.content == content
    assert back.headers["content-type"] == "text/plain; charset=utf-8"
    carries_the_headers(back)
    assert ann.files() == {path}
    gone = ann.delete(url)
    assert (gone.status_code, gone.content) == (204, b"")
    refused(ann.get(url), 404, "NOT_FOUND")
    refused(ann.delete(url), 404, "NOT_FOUND")


def test_a_name_is_one_however_it_is_spelled(ann: Person) -> None:
    spelled = quote("Re\u0301sume\u0301 4.42\u202fPM .txt ")
    stored = ann.http.put(f"/v1/files/{spelled}", content=b"x").json()["data"]["path"]
    assert stored == "Résumé 4.42 PM .txt"
    for name in (spelled, quote(stored)):
        assert ann.http.get(f"/v1/files/{name}").content == b"x"
        assert ann.http.put(f"/v1/files/{name}", content=b"x").status_code == 200
    assert ann.files() == {stored}
    assert ann.delete(f"/v1/files/{spelled}").status_code == 204


@pytest.mark.parametrize("content", [b"", bytes(range(256)), b"\xff\xd8\xff\xe0", b"a\0b", b"<script>"])
@pytest.mark.parametrize("kind", ["image/png", "application/octet-stream", None])
def test_bytes_come_back_as_they_were(ann: Person, content: bytes, kind: str | None) -> None:
    headers = {} if kind is None else {"Content-Type": kind}
    assert ann.http.put("/v1/files/page.html", content=content, headers=headers).status_code == 201
    back = ann.http.get("/v1/files/page.html")
    assert back.content == content


@pytest.mark.parametrize(
    ("codec", "charset"), [("cp1252", "windows-1252"), ("utf-16", "utf-16le"), ("utf-8-sig", "utf-8")]
)
def test_a_text_comes_back_as_it_was_with_the_name_of_its_encoding(
    ann: Person, codec: str, charset: str
) -> None:
    content = "Name;Größe\r\n".encode(codec)
    assert ann.http.put("/v1/files/a.csv", content=content).status_code == 201
    back = ann.http.get("/v1/files/a.csv")
    assert (back.content, back.headers["content-type"]) == (content, f"text/plain; charset={charset}")


@pytest.mark.parametrize(
    "kind", ["text/csv", "text/plain; charset=utf-8", "application/json", "application/xml"]
)
def test_what_the_gateway_reads_as_text_is_stored_as_it_was_sent_or_not_at_all(
    ann: Person, kind: str
) -> None:
    """`\xf0\x9f\x98` is as long as the one character that stands for it after the gateway."""
    headers, url = {"Content-Type": kind}, "/v1/files/a.csv"
    for content in ("Gr\xf6\xdfe".encode("latin-1"), b"\xf0\x9f\x98", b"\x89PNG\r\n", "a".encode("utf-16")):
        error = refused(ann.http.put(url, content=content, headers=headers), 400, "VALIDATION_ERROR")
        assert "application/octet-stream" in error["message"]
    assert ann.files() == set()
    plain = "Größe\r\n\ttëxt 😀\0\n".encode()
    assert ann.http.put(url, content=plain, headers=headers).status_code == 201
    assert ann.http.get(url).content == plain
    marked = "\ufffd".encode()
    proof = f"sha-256=:{base64.b64encode(hashlib.sha256(marked).digest()).decode()}:"
    assert ann.http.put(url, content=marked, headers={**headers, "Content-Digest": proof}).status_code == 200
    assert ann.http.get(url).content == marked
    refused(ann.http.put(url, content=b"x", headers={"Content-Digest": proof}), 400, "VALIDATION_ERROR")
    assert ann.http.get(url).content == marked


def test_bytes_with_a_charset_of_their_own_arrive_and_a_form_does_not(ann: Person) -> None:
    latin = "Gr\xf6\xdfe".encode("latin-1")
    ann.http.put("/v1/files/a", content=latin, headers={"Content-Type": "text/plain; charset=iso-8859-1"})
    assert ann.http.get("/v1/files/a").content == latin
    refused(ann.http.put("/v1/files/b", files={"file": ("a.csv", latin)}), 415, "UNSUPPORTED_MEDIA_TYPE")
    refused(ann.http.put("/v1/files/b", data={"a": "b"}), 415, "UNSUPPORTED_MEDIA_TYPE")
    packed = {"Content-Type": "text/csv", "Content-Encoding": "gzip"}
    refused(
        ann.http.put("/v1/files/b", content=gzip.compress(latin), headers=packed),
        415,
        "UNSUPPORTED_MEDIA_TYPE",
    )
    assert ann.files() == {"a"}


def test_a_file_is_deleted_only_as_the_version_that_was_seen(ann: Person) -> None:
    url = "/v1/files/a.md"
    ann.put_file("a.md", "first")
    (first,) = versions(ann, url)
    ann.put_file("a.md", "second")
    for tag in (first["etag"], f"W/{versions(ann, url)[0]['etag']}"):
        refused(ann.http.delete(url, headers={"If-Match": tag}), 412, "PRECONDITION_FAILED")
    refused(ann.http.delete(url, headers={"If-None-Match": '"x"'}), 400, "VALIDATION_ERROR")
    assert ann.file("a.md") == "second"
    both = f'"x", {versions(ann, url)[0]["etag"]}'
    assert ann.http.put(url, content=b"third", headers={"If-Match": both}).status_code == 200
    assert ann.http.delete(url, headers={"If-Match": versions(ann, url)[0]["etag"]}).status_code == 204
    assert ann.files() == set()


@pytest.mark.parametrize("kind", ["text/html", "image/svg+xml", "application/javascript"])
def test_a_file_is_never_sent_as_a_type_that_a_browser_runs(ann: Person, kind: str) -> None:
    ann.http.put("/v1/files/page.html", content=b"<script>alert(1)</script>", headers={"Content-Type": kind})
    back = ann.get("/v1/files/page.html")
    assert back.text == "<script>alert(1)</script>"
    assert back.headers["content-type"] == "text/plain; charset=utf-8"
    carries_the_headers(back)


@pytest.mark.parametrize("path", OUTSIDE)
def test_a_path_that_leads_out_or_is_ambiguous_is_refused_and_nothing_is_written(
    ann: Person, behind: Behind, path: str
) -> None:
    """Sent over a bare socket: an HTTP library would tidy the path up first."""
    for method in ("PUT", "GET", "DELETE"):
        status, body = raw_request(ann, method, f"/v1/files/{path}", b"x" if method == "PUT" else b"")
        error = json.loads(body)["error"]
        assert (status, error["code"], list(error["details"])) == (400, "VALIDATION_ERROR", ["path"]), body
    assert behind.objects_of(ann.tenant) == []
    assert ann.files() == set()


def raw_request(person: Person, method: str, target: str, body: bytes) -> tuple[int, bytes]:
    base = urlsplit(str(person.http.base_url))
    with socket.create_connection((base.hostname or "", base.port or 0), timeout=60) as connection:
        head = (
            f"{method} {target} HTTP/1.1\r\nHost: {base.netloc}\r\nAuthorization: Bearer {person.token}\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        connection.sendall(head.encode() + body)
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))
    head_bytes, _, content = answer.partition(b"\r\n\r\n")
    return int(head_bytes.split(b" ")[1]), content


def test_what_was_replaced_or_deleted_is_listed_and_comes_back(ann: Person) -> None:
    url = "/v1/files/reports/may.md"
    ann.put_file("reports/may.md", "first")
    ann.put_file("reports/may.md", "second!")
    first, second = versions(ann, url)[::-1]
    assert [(one["bytes"], one["current"]) for one in (first, second)] == [(5, False), (7, True)]
    restored = ann.post(f"{url}?restore={first['version_id']}")
    assert (restored.status_code, restored.json()["data"]) == (200, {"path": "reports/may.md", "bytes": 5})
    assert ann.file("reports/may.md") == "first"
    assert ann.delete(url).status_code == 204
    newest = versions(ann, url)[0]
    assert (newest["current"], newest["deletion"]) == (True, True)
    refused(ann.post(f"{url}?restore={newest['version_id']}"), 404, "NOT_FOUND")
    assert ann.post(f"{url}?restore={second['version_id']}").status_code == 200
    assert ann.file("reports/may.md") == "second!"
    assert len(versions(ann, url)) == 5


def test_another_tenant_neither_sees_nor_restores_a_version(ann: Person, admit: Admit) -> None:
    url = "/v1/files/reports/may.md"
    ann.put_file("reports/may.md", "hers")
    (only,) = versions(ann, url)
    stranger = admit(user="ann")
    for _ in range(2):
        refused(stranger.get(url, versions="1"), 404, "NOT_FOUND")
        refused(stranger.post(f"{url}?restore={only['version_id']}"), 404, "NOT_FOUND")
        ann.delete(url)
    assert stranger.files() == set()


def test_a_private_file_is_there_for_its_owner_alone(ann: Person, admit: Admit) -> None:
    url = "/v1/files/~/plans/may.md"
    ann.put_file("~/plans/may.md", "mine")
    ann.put_file("shared.md", "ours")
    (version,) = versions(ann, url)
    for other in (admit(ann.tenant, "bob"), admit(ann.tenant, "eve", "admin"), admit(user="ann")):
        refused(other.get(url), 404, "NOT_FOUND")
        refused(other.get(url, versions="1"), 404, "NOT_FOUND")
        refused(other.post(f"{url}?restore={version['version_id']}"), 404, "NOT_FOUND")
        refused(other.delete(url), 404, "NOT_FOUND")
        assert other.items("/v1/files", prefix="~/") == []
        assert other.files() == ({"shared.md"} if other.tenant == ann.tenant else set())
    assert ann.file("~/plans/may.md") == "mine"
    assert [item["path"] for item in ann.items("/v1/files", prefix="~/")] == ["~/plans/may.md"]
    assert ann.files() == {"shared.md"}
    refused(ann.http.put("/v1/files/~bob/x.md", content=b"x"), 400, "VALIDATION_ERROR")


def versions(person: Person, url: str) -> list[Json]:
    """Newest first."""
    return list(person.data(url, versions="1")["items"])


def test_the_largest_file_is_taken_and_a_larger_one_is_not(ann: Person, behind: Behind) -> None:
    assert ann.http.put("/v1/files/large", content=b"x" * LIMIT).status_code == 201
    assert len(ann.http.get("/v1/files/large").content) == LIMIT
    refused(ann.http.put("/v1/files/larger", content=b"x" * (LIMIT + 1)), 413, "PAYLOAD_TOO_LARGE")
    assert ann.files() == {"large"}


def test_a_listing_is_paged_in_order_and_narrowed_by_prefix(ann: Person) -> None:
    paths = ["a.txt", "b/1.txt", "b/2.txt", "b2.txt", "c/d/e.txt"]
    for path in reversed(paths):
        ann.put_file(path, path)
    assert [item["path"] for item in ann.items("/v1/files", limit=2)] == paths
    assert [item["path"] for item in ann.items("/v1/files", prefix="b/")] == ["b/1.txt", "b/2.txt"]
    assert [item["bytes"] for item in ann.items("/v1/files", prefix="c")] == [9]
    for query in ({"limit": 0}, {"limit": 1_001}, {"cursor": "x"}, {"prefix": "../"}, {"prefix": "a/../"}):
        refused(ann.get("/v1/files", **query), 400, "VALIDATION_ERROR")
