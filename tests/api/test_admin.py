"""The admin function: files, tools, health."""

import gzip
from urllib.parse import unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acta.engine.api.json_body import body_bytes
from acta.engine.errors import ValidationFailed
from acta.engine.files.s3 import S3FileStore
from acta.engine.settings import Settings
from acta.engine.tools.builtin import offered
from acta.engine.untrusted.path import PathRefused
from tests.api.deployment import admin_root
from tests.api.gateway import Gateway, api_of, claims, digest
from tests.stores import in_memory

LIMIT = 1_000
SETTINGS = Settings(env="test", table="table", bucket="bucket", max_file_bytes=LIMIT)


@pytest.fixture
def files() -> S3FileStore:
    return in_memory.files()


@pytest.fixture
def admin(files: S3FileStore) -> Gateway:
    return Gateway(api_of("admin", admin_root(SETTINGS, files)).handler)


@pytest.mark.parametrize("data", [b"", b"hello\n", "Grüße".encode(), b"\x00\xff\xfe binary", b"{}"])
def test_a_file_comes_back_byte_for_byte(admin: Gateway, data: bytes) -> None:
    assert admin.request("PUT", "/v1/files/a/b.md", body=data).data == {"path": "a/b.md", "bytes": len(data)}
    assert admin.request("GET", "/v1/files/a/b.md").body == data


def test_text_the_gateway_did_not_encode_is_stored_as_utf8(admin: Gateway, files: S3FileStore) -> None:
    admin.request("PUT", "/v1/files/a.md", body="Grüße", headers={"Content-Type": "text/markdown"})
    assert files.read("acme", "a.md") == "Grüße".encode()


TEXT_TYPES = ("text/csv", "text/plain; charset=UTF-8", "application/json", "application/xml", "text/html")
PIECES = st.sampled_from(
    [b"Gr\xf6\xdfe", "Grüße".encode(), b"\xf0\x9f\x98", "😀".encode(), b"\r\n", b"\0", b"\xed\xa0\x80"]
)


@given(st.lists(PIECES | st.binary(max_size=4)).map(b"".join), st.sampled_from(TEXT_TYPES), st.booleans())
@example(
    b"\xf0\x9f\x98", "text/csv", False
)  # as long as the one character that the gateway puts in its place
@example("\ufffd".encode(), "text/csv", True)
def test_a_file_that_the_gateway_reads_as_text_is_stored_as_it_was_sent_or_not_at_all(
    data: bytes, kind: str, with_digest: bool
) -> None:
    files = in_memory.files()
    headers = {"Content-Type": kind, **(digest("sha-256", data) if with_digest else {})}
    api = Gateway(api_of("admin", admin_root(SETTINGS, files)).handler)
    answer = api.request("PUT", "/v1/files/a", body=data, headers=headers)
    if answer.status == 201:
        assert files.read("acme", "a") == data
        return
    assert (answer.status, files.versions("acme", "a")) == (400, ())
    assert is_no_text(data) or ("\ufffd" in data.decode() and not with_digest)


def is_no_text(data: bytes) -> bool:
    return "\ufffd" in data.decode(errors="replace") and "\ufffd".encode() not in data


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ({"Content-Type": "text/csv", "Content-Length": "9"}, "application/octet-stream"),
        ({"Content-Length": "2"}, "3 bytes and Content-Length is 2"),
        (digest("sha-256", b"other"), "Content-Digest"),
        (
            {"Content-Type": "text/csv", **digest("sha-512", b"other", "Repr-Digest")},
            "application/octet-stream",
        ),
        ({"Content-Digest": "sha-256=7"}, "sha-256"),
    ],
)
def test_a_file_whose_length_or_digest_is_another_one_is_not_stored(
    admin: Gateway, files: S3FileStore, sent: dict[str, str], says: str
) -> None:
    answer = admin.request("PUT", "/v1/files/a", body=b"a,b", headers=sent)
    assert (answer.status, list(answer.error["details"])) == (400, ["body"])
    assert says in answer.error["message"]
    assert files.versions("acme", "a") == ()


@pytest.mark.parametrize(
    "sent", [{"Content-Length": "5"}, digest("sha-256", b"x"), {"Content-Length": "1,0"}]
)
def test_a_file_that_was_not_empty_is_not_stored_as_an_empty_one(
    admin: Gateway, files: S3FileStore, sent: dict[str, str]
) -> None:
    answer = admin.request("PUT", "/v1/files/a", headers=sent)
    assert answer.status == 400
    assert ("0 bytes" in answer.error["message"]) is ("Content-Length" in sent)
    assert files.versions("acme", "a") == ()
    for plain in ({}, {"Content-Length": "0"}, {"Content-Type": "text/csv"}):
        assert admin.request("PUT", "/v1/files/a", headers=plain).status < 300
    assert files.read("acme", "a") == b""


def test_each_digest_counts(admin: Gateway, files: S3FileStore) -> None:
    other, own = digest("sha-256", b"x"), digest("sha-256", b"a,b", "Repr-Digest")
    assert admin.request("PUT", "/v1/files/a", body=b"a,b", headers={**other, **own}).status == 400
    assert files.versions("acme", "a") == ()


@pytest.mark.parametrize("body", ["a,b", "a\ud83d"])
def test_text_without_a_length_and_half_a_character_prove_no_bytes(body: str) -> None:
    sent = {} if body == "a,b" else {"content-length": "4"}
    with pytest.raises(ValidationFailed, match="application/octet-stream"):
        body_bytes({"body": body}, sent, 100, is_file=True)
    assert body_bytes({"body": "a,b"}, {}, 100, is_file=False) == b"a,b"


def test_a_file_with_its_own_digest_is_stored(admin: Gateway, files: S3FileStore) -> None:
    for name in ("sha-256", "sha-512"):
        both = {
            "Content-Digest": f"md5=:x:;q=1, {digest(name, b'a,b')['Content-Digest']} ;by=me;n",
            "Content-Type": "text/csv",
        }
        assert admin.request("PUT", f"/v1/files/{name}", body=b"a,b", headers=both).status == 201
        assert files.read("acme", name) == b"a,b"


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ({"Content-Type": "multipart/form-data; boundary=x"}, "-T FILE"),
        ({"Content-Type": "application/x-www-form-urlencoded"}, "--data-binary @FILE"),
        ({"Content-Type": "text/csv", "Content-Encoding": "gzip"}, "without Content-Encoding"),
        ({"Content-Encoding": "br"}, "without Content-Encoding"),
    ],
)
def test_a_form_and_a_content_encoding_are_not_stored_as_a_file(
    admin: Gateway, files: S3FileStore, sent: dict[str, str], says: str
) -> None:
    answer = admin.request("PUT", "/v1/files/a", body=gzip.compress(b"a,b"), headers=sent)
    assert (answer.status, answer.error["code"]) == (415, "UNSUPPORTED_MEDIA_TYPE")
    assert says in answer.error["message"]
    assert files.versions("acme", "a") == ()


@pytest.mark.parametrize("part", ["bytes 3-5/6", "bytes 0-2/3", "bytes */6", "pages 1/2"])
def test_a_part_of_a_file_does_not_take_the_place_of_the_whole(
    admin: Gateway, files: S3FileStore, part: str
) -> None:
    admin.request("PUT", "/v1/files/a", body=b"one")
    answer = admin.request("PUT", "/v1/files/a", body=b"two", headers={"Content-Range": part})
    assert (answer.status, answer.error["code"]) == (400, "VALIDATION_ERROR")
    assert "without Content-Range" in answer.error["message"]
    assert files.read("acme", "a") == b"one"


def test_a_new_file_is_201_and_a_replaced_one_200(admin: Gateway) -> None:
    assert admin.request("PUT", "/v1/files/a.md", body=b"1").status == 201
    assert admin.request("PUT", "/v1/files/a.md", body=b"2").status == 200


@pytest.mark.parametrize(
    ("path", "data", "kind"),
    [
        ("a.md", b"# Hi", "text/plain; charset=utf-8"),
        ("a.json", b"{}", "text/plain; charset=utf-8"),
        ("a.html", b"<script>alert(1)</script>", "text/plain; charset=utf-8"),
        ("a.svg", b"<svg onload='x'/>", "text/plain; charset=utf-8"),
        ("a.txt", b"\xff\xfeh\x00i\x00", "text/plain; charset=utf-16le"),
        ("a.html", "<b>Größe</b>".encode("latin-1"), "text/plain; charset=windows-1252"),
        ("a.log", b"one zero byte \x00 in a log", "text/plain; charset=utf-8"),
        ("a.png", b"\x89PNG\r\n\x1a\n\x00", "application/octet-stream"),
        ("a.txt", b"a\x00b", "application/octet-stream"),
    ],
)
def test_a_file_is_sent_as_text_or_as_bytes_and_never_as_a_page(
    admin: Gateway, path: str, data: bytes, kind: str
) -> None:
    admin.request("PUT", f"/v1/files/{path}", body=data)
    answer = admin.request("GET", f"/v1/files/{path}")
    assert answer.headers["Content-Type"] == kind
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ("my notes.md", "my notes.md"),
        ("my%20notes.md", "my notes.md"),
        ("a+b.md", "a+b.md"),
        ("%C3%BC/ü.md", "ü/ü.md"),
        (".hidden", ".hidden"),
        ("a..b/c...d", "a..b/c...d"),
        ("a%2Fb.md", "a/b.md"),
        ("x=1&y=[2]{3}|^$'!*:@,;~.md", "x=1&y=[2]{3}|^$'!*:@,;~.md"),
        ("日本語/🎉.txt", "日本語/🎉.txt"),
        ("sessions/plan", "sessions/plan"),
        ('a"b<c>d`e\\f'.replace("\\f", ""), 'a"b<c>d`e'),
        ("a?b#c", "a?b#c"),
        ("100%25%20sure.txt", "100% sure.txt"),
        ("100% sure.txt", "100% sure.txt"),
        ("A%CC%88rger%E2%80%AFPM.txt", "Ärger PM.txt"),
        ("%20a%20/%F0%9F%8F%B3%EF%B8%8F%E2%80%8D%F0%9F%8C%88.png", "a/🏳\ufe0f\u200d🌈.png"),
        ("%D9%85%DB%8C%E2%80%8C%D8%AE.txt", "می\u200cخ.txt"),
    ],
)
def test_a_path_is_decoded_once_and_taken_as_it_is(
    admin: Gateway, files: S3FileStore, raw: str, path: str
) -> None:
    assert admin.request("PUT", f"/v1/files/{raw}", body=b"1").data["path"] == path
    assert files.read("acme", path) == b"1"
    assert admin.request("GET", f"/v1/files/{raw}").body == b"1"
    assert admin.request("GET", "/v1/files", query={"prefix": unquote(raw)}).data["items"][0]["path"] == path
    assert admin.request("DELETE", f"/v1/files/{raw}").status == 204


@pytest.mark.parametrize(
    "raw",
    [
        "../x", "a//b", "a/", "%2e%2e/x", "%2E%2E%2Fx", "..%2fx", "%2fetc", "%252e%252e/x", "a%2520b", "%20", "a/%20/b",
        "%5c", "a%00b", "a%0ab", "%c2%85", "%20%2e%2e/a", "%ff", "a%c0%af", "%c0%ae%c0%ae/x", "\ufffd.md", "%ed%a0%80",
    ],
)  # fmt: skip
def test_a_path_that_decodes_to_no_plain_one_reaches_no_store(raw: str) -> None:
    """Which plain paths are refused is the domain's matter (`tests/untrusted/test_path.py`)."""
    refused_before_the_store("PUT", raw)


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_no_method_passes_such_a_path_to_the_store(method: str) -> None:
    refused_before_the_store(method, "a/%2e%2e/x")


class Untouchable(S3FileStore):
    """A storage that no request gets to."""

    def write(self, tenant: str, path: str, data: bytes, write_id: str | None = None) -> bool:
        raise AssertionError(path)

    def read(self, tenant: str, path: str) -> bytes:
        raise AssertionError(path)

    def delete(self, tenant: str, path: str, etag: str | None = None) -> None:
        raise AssertionError(path)


def refused_before_the_store(method: str, raw: str) -> None:
    admin = Gateway(api_of("admin", admin_root(SETTINGS, in_memory.files_of(Untouchable))).handler)
    answer = admin.request(method, f"/v1/files/{raw}", body=b"1" if method == "PUT" else None)
    assert (answer.status, list(answer.error["details"])) == (400, ["path"])


def test_a_path_the_store_refuses_is_the_callers_mistake() -> None:
    class Narrow(S3FileStore):
        def write(self, tenant: str, path: str, data: bytes, write_id: str | None = None) -> bool:
            raise PathRefused("the path is longer than 900 bytes")

    answer = Gateway(api_of("admin", admin_root(SETTINGS, in_memory.files_of(Narrow))).handler).request(
        "PUT", "/v1/files/a", body=b""
    )
    assert (answer.status, answer.error["details"]) == (400, {"path": ["the path is longer than 900 bytes."]})


def test_a_file_may_have_as_many_bytes_as_configured_and_not_one_more(
    admin: Gateway, files: S3FileStore
) -> None:
    assert admin.request("PUT", "/v1/files/a", body=b"x" * LIMIT).status == 201
    answer = admin.request("PUT", "/v1/files/b", body=b"x" * (LIMIT + 1))
    assert (answer.status, answer.error["code"]) == (413, "PAYLOAD_TOO_LARGE")
    assert [file.path for file in files.list("acme", "", 10).files] == ["a"]


def test_a_file_too_large_to_send_says_so(admin: Gateway, files: S3FileStore) -> None:
    files.write("acme", "big", b"x" * (LIMIT + 1))
    assert admin.request("GET", "/v1/files/big").status == 413


def test_a_deleted_file_is_gone(admin: Gateway) -> None:
    admin.request("PUT", "/v1/files/a.md", body=b"1")
    assert admin.request("DELETE", "/v1/files/a.md").status == 204
    for method in ("GET", "DELETE"):
        answer = admin.request(method, "/v1/files/a.md")
        assert (answer.status, answer.error["code"]) == (404, "NOT_FOUND")


def test_another_tenants_files_do_not_exist(admin: Gateway, files: S3FileStore) -> None:
    files.write("other", "a.md", b"theirs")
    assert admin.request("GET", "/v1/files").data["items"] == []
    assert admin.request("GET", "/v1/files/a.md").status == 404
    assert admin.request("DELETE", "/v1/files/a.md").status == 404
    assert files.read("other", "a.md") == b"theirs"


def test_a_listing_goes_page_by_page_in_path_order(admin: Gateway, files: S3FileStore) -> None:
    for path in ("c", "a", "b/x", "b/y"):
        files.write("acme", path, b"12")
    first = admin.request("GET", "/v1/files", query={"limit": "3"}).data
    second = admin.request("GET", "/v1/files", query={"limit": "3", "cursor": first["next_cursor"]}).data
    assert second["next_cursor"] is None
    seen = first["items"] + second["items"]
    assert [item["path"] for item in seen] == ["a", "b/x", "b/y", "c"]
    assert seen[0] == {"path": "a", "bytes": 2, "modified_at": "2026-01-01T00:00:00.000Z"}


def test_a_listing_can_be_narrowed_to_a_prefix(admin: Gateway, files: S3FileStore) -> None:
    for path in ("a,b/x", "a,b/y", "c"):
        files.write("acme", path, b"")
    items = admin.request("GET", "/v1/files", query={"prefix": "a,b/"}).data["items"]
    assert [item["path"] for item in items] == ["a,b/x", "a,b/y"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"prefix": "../"}, "prefix"), ({"prefix": "/"}, "prefix"), ({"prefix": "a\0"}, "prefix"),
        ({"limit": "0"}, "limit"), ({"limit": "1001"}, "limit"), ({"limit": "many"}, "limit"),
        ({"cursor": "made up"}, "cursor"), ({"cursor": "x" * 3_000}, "cursor"),
    ],
)  # fmt: skip
def test_a_listing_refuses_what_it_cannot_use(admin: Gateway, query: dict[str, str], field: str) -> None:
    answer = admin.request("GET", "/v1/files", query=query)
    assert (answer.status, list(answer.error["details"])) == (400, [field])


def test_files_need_a_token_and_a_role(files: S3FileStore) -> None:
    handler = api_of("admin", admin_root(SETTINGS, files)).handler
    for method in ("GET", "PUT", "DELETE"):
        assert Gateway(handler, token=None).request(method, "/v1/files/a").status == 401
        assert Gateway(handler, token=claims(roles="")).request(method, "/v1/files/a").status == 403
    assert (
        Gateway(handler, token=claims(roles="[admin]")).request("PUT", "/v1/files/a", body=b"").status == 201
    )


def test_the_registry_lists_the_builtin_tools(admin: Gateway) -> None:
    page = admin.request("GET", "/v1/tools").data
    searching = {"find_tools", "use_tool"}  # where there are more tools than a request has
    assert [tool["name"] for tool in page["items"]] == [n for n in offered((), {}) if n not in searching]
    assert page["next_cursor"] is None


def test_one_tool_can_be_read_by_name(admin: Gateway) -> None:
    tool = admin.request("GET", "/v1/tools/delete_file").data
    assert (tool["high_stakes"], tool["risk"], tool["effect"], tool["kind"]) == (
        True,
        "write",
        "idempotent",
        "builtin",
    )
    assert tool["input_schema"]["required"] == ["path"]
    assert admin.request("GET", "/v1/tools/unknown").error["code"] == "NOT_FOUND"


@pytest.mark.parametrize("raw", ["pay%E2%80%8Broll.csv", "a%E2%80%AEtxt.exe", "a%EF%B8%8F.md"])
def test_a_new_file_is_called_what_it_looks_like_and_one_of_before_can_be_read_and_deleted(
    admin: Gateway, files: S3FileStore, raw: str
) -> None:
    answer = admin.request("PUT", f"/v1/files/{raw}", body=b"1")
    assert (answer.status, list(answer.error["details"])) == (400, ["path"])
    files.write("acme", unquote(raw), b"1")
    assert admin.request("GET", f"/v1/files/{raw}").body == b"1"
    assert admin.request("DELETE", f"/v1/files/{raw}").status == 204
