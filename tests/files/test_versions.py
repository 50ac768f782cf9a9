"""`/v1/files`: what was replaced or deleted can be read about and written again."""

from tests.api.deployment import AdminApi


def test_a_member_sees_what_a_file_was_and_writes_it_again() -> None:
    api = AdminApi()
    for data in (b"Ann,7", b""):
        api.root.files.write("acme", "payroll.csv", data)
    api.root.files.delete("acme", "payroll.csv")
    listed = api.member.request("GET", "/v1/files/payroll.csv", query={"versions": "1"}).data["items"]
    told = [(one["bytes"], one["current"], one["deletion"]) for one in listed]
    assert told == [(0, True, True), (0, False, False), (5, False, False)]
    was = api.member.request("GET", "/v1/files/payroll.csv", query={"version": listed[2]["version_id"]})
    assert (was.status, was.body) == (200, b"Ann,7")
    restored = api.member.request("POST", "/v1/files/payroll.csv", query={"restore": listed[2]["version_id"]})
    assert (restored.status, restored.data) == (200, {"path": "payroll.csv", "bytes": 5})
    assert api.root.files.read("acme", "payroll.csv") == b"Ann,7"


def test_no_version_of_another_tenant_and_none_that_is_not_there() -> None:
    api = AdminApi()
    api.root.files.write("acme", "payroll.csv", b"Ann,7")
    (only,) = api.root.files.versions("acme", "payroll.csv")
    for caller, version in ((api.stranger, only.version_id), (api.member, "nothing")):
        for method, query in (("POST", {"restore": version}), ("GET", {"version": version})):
            answer = caller.request(method, "/v1/files/payroll.csv", query=query)
            assert (answer.status, answer.error["code"]) == (404, "NOT_FOUND")
            assert "`acta files versions PATH`" in answer.error["message"]
    assert api.stranger.request("GET", "/v1/files/payroll.csv", query={"versions": "1"}).status == 404
    assert api.member.request("POST", "/v1/files/payroll.csv").status == 400


def test_a_write_and_a_restore_replace_only_what_they_name() -> None:
    api, path = AdminApi(), "/v1/files/a.md"

    def put(data: bytes, **headers: str) -> int:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = api.member.request("PUT", path, body=data, headers=named)
        if answer.status == 412:
            assert answer.error["code"] == "PRECONDITION_FAILED"
            assert "?versions=1" in answer.error["message"]
        return answer.status

    assert [put(b"first", If_None_Match="*") for _ in range(2)] == [201, 412]
    (first,) = api.member.request("GET", path, query={"versions": "1"}).data["items"]
    assert [put(b"second", If_Match=first["etag"]) for _ in range(2)] == [200, 412]
    assert api.root.files.read("acme", "a.md") == b"second"
    newest = api.member.request("GET", path, query={"versions": "1"}).data["items"][0]["etag"]
    restore = {"restore": first["version_id"]}
    told = [
        api.member.request("POST", path, query=restore, headers=headers).status
        for headers in ({"If-None-Match": "*"}, {"If-Match": newest}, {"If-Match": newest}, {})
    ]
    assert told == [412, 200, 412, 200]
    assert api.root.files.read("acme", "a.md") == b"first"
    for headers in ({"If-None-Match": '"x"'}, {"If-None-Match": "*", "If-Match": newest}):
        assert api.member.request("PUT", path, body=b"x", headers=headers).status == 400


def test_deleted_files_are_listed_with_when_they_were_deleted() -> None:
    api = AdminApi()
    api.root.files.write("acme", "in/a.md", b"x")
    api.root.files.delete("acme", "in/a.md")
    told = api.member.request("GET", "/v1/files", query={"deleted": "1", "prefix": "in/"}).data
    assert told == {
        "items": [{"path": "in/a.md", "deleted_at": "2026-01-01T00:00:00.000Z"}],
        "next_cursor": None,
    }
    assert api.member.request("GET", "/v1/files").data["items"] == []
    assert api.stranger.request("GET", "/v1/files", query={"deleted": "1"}).data["items"] == []
