"""The tenant's files: folders, text, versions, and putting, replacing, restoring and deleting them."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Screens
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Person
from tests.e2e.support.screen import PHONE, Screen

pytestmark = pytest.mark.thorough

MARKUP = "<img src=x onerror=alert(1)>"
HOSTILE = (
    f"{MARKUP}<script>alert(1)</script><a href='https://evil.example'>x</a>\u202egnp\u200b\n{'y' * 1_000_000}"
)


def drop(page: Page, label: str, **files: str) -> None:
    """As a mouse does that brings files from elsewhere. `files`: texts by name."""
    data = page.evaluate_handle(
        """files => {
            const dropped = new DataTransfer();
            for (const [name, text] of Object.entries(files)) dropped.items.add(new File([text], name));
            return dropped;
        }""",
        files,
    )
    zone = page.locator(".dropzone").filter(has_text=label)
    zone.dispatch_event("drop", {"dataTransfer": data})


def test_folders_lead_to_files_and_back(screen: Screen, ann: Person) -> None:
    for path, text in {"top.md": "1", "in/a.md": "22", "in/deep/b.md": "333", "~/mine.md": "4"}.items():
        ann.put_file(path, text)
    page = screen.sign_in(ann, place="files")
    rows = page.get_by_role("table", name="Files").get_by_role("row")
    expect(rows).to_contain_text(["Name", "in/2 files5 B", "top.md1 B"])
    screen.accessible()
    screen.picture("files")
    page.get_by_role("link", name="in/").click()
    expect(rows).to_contain_text(["Name", "deep/1 file3 B", "a.md2 B"])
    page.get_by_role("link", name="a.md").click()
    expect(page.get_by_label("What the file says")).to_have_text("22")
    screen.accessible()
    screen.picture("file")
    page.get_by_role("navigation", name="Folders").get_by_role("link", name="in").click()
    expect(page.get_by_role("link", name="deep/")).to_be_visible()
    page.get_by_role("link", name="All files").click()
    page.get_by_role("link", name="My own files").click()
    expect(page.get_by_role("link", name="mine.md")).to_be_visible()


def test_dropped_files_are_stored_and_names_that_exist_follow_the_rule(screen: Screen, ann: Person) -> None:
    ann.put_file("in/a.md", "old")
    page = screen.sign_in(ann, place="files?in=in/")
    label = "Drop files here"
    became = page.get_by_role("list", name="What happened to them").get_by_role("listitem")
    names = {
        "a.md": "second",
        "Re\u0301sume\u0301 4\u202fPM ❤\ufe0f.md": "b",
        "100%.md": "c",
        "100%41.md": "x",
    }
    drop(page, label, **names)
    expect(became).to_contain_text(
        [
            "✔ in/a (2).md is stored",
            "✔ in/Résumé 4 PM ❤\ufe0f.md is stored",
            "✔ in/100%.md is stored",
            "100%41.md was not stored",
        ]
    )
    screen.accessible()
    screen.picture("dropped")
    page.get_by_label("If a file of that name exists").select_option("Skip the new one")
    drop(page, label, **{"a.md": "third"})
    expect(became).to_contain_text(["a.md was left out"])
    page.get_by_label("If a file of that name exists").select_option(index=1)
    drop(page, label, **{"a.md": "fourth"})
    expect(became).to_contain_text(["✔ in/a.md is stored"])
    expect(page.get_by_role("table", name="Files").get_by_role("row")).to_have_count(5)
    page.get_by_role("link", name="100%.md").click()
    expect(page.get_by_label("What the file says")).to_have_text("c")
    assert {path: ann.file(path) for path in ann.files()} == {
        "in/a.md": "fourth",
        "in/a (2).md": "second",
        "in/Résumé 4 PM ❤\ufe0f.md": "b",
        "in/100%.md": "c",
    }


def test_a_dropped_folder_is_said_to_be_one_and_names_keep_their_spaces(
    screen: Screen, ann: Person, tmp_path: Path
) -> None:
    (tmp_path / "a  b.md").write_text("a", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "b.md").write_text("b", encoding="utf-8")
    page = screen.sign_in(ann, place="files")
    expect(page.get_by_text("There is nothing here yet")).to_be_visible()
    at = page.locator(".dropzone").bounding_box()
    assert at is not None
    dropped = {
        "items": [],
        "files": [str(tmp_path / name) for name in ("folder", "a  b.md")],
        "dragOperationsMask": 1,
    }
    mouse = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        place = {"x": at["x"] + 9, "y": at["y"] + 9}
        mouse.send("Input.dispatchDragEvent", {"type": kind, "data": dropped, **place})
    became = page.get_by_role("list", name="What happened to them").get_by_role("listitem")
    expect(became).to_contain_text(["folder was not stored: It is a folder", "✔ a  b.md is stored"])
    assert ann.files() == {"a  b.md"}
    expect(page.get_by_role("table", name="Files")).to_be_visible()
    assert "a  b.md" in page.get_by_role("table", name="Files").inner_text()
    page.get_by_role("table", name="Files").get_by_role("link").click()
    page.get_by_role("button", name="Delete").click()
    assert page.get_by_role("dialog").get_by_role("heading").inner_text() == "Delete a  b.md?"


def test_a_file_that_is_dropped_beside_the_place_leaves_the_page_where_it_is(
    screen: Screen, ann: Person
) -> None:
    page = screen.sign_in(ann, place="files")
    expect(page.get_by_text("There is nothing here yet")).to_be_visible()
    prevented = page.evaluate(
        """() => {
            const dropped = new DataTransfer();
            dropped.items.add(new File(["x"], "x"));
            return ["dragover", "drop"].map((name) => !document.body.dispatchEvent(
                new DragEvent(name, { dataTransfer: dropped, bubbles: true, cancelable: true })));
        }"""
    )
    assert prevented == [True, True]
    assert ann.files() == set()


def test_a_file_is_downloaded_as_it_is(screen: Screen, ann: Person) -> None:
    ann.put_file("in/page.html", HOSTILE)
    ann.http.put("/v1/files/data.bin", content=b"\0\1\2").raise_for_status()
    page = screen.sign_in(ann, place="files?file=in/page.html")
    with page.expect_download() as begun:
        page.get_by_role("button", name="Download").click()
    assert begun.value.suggested_filename == "page.html"
    assert begun.value.path().read_text(encoding="utf-8") == HOSTILE
    page = screen.open("files?file=data.bin")
    expect(page.get_by_text("It is no text (3 B)")).to_be_visible()


def test_a_file_is_shown_in_its_encoding_which_is_named(screen: Screen, ann: Person) -> None:
    for path, text, codec, encoding in (
        ("a.csv", "Name;Größe 5 €", "cp1252", "windows-1252"),
        ("b.csv", "名前;価格 こんにちは", "cp932", "shift_jis"),
        ("c.csv", "Größe", "utf-16", "utf-16le"),
    ):
        ann.http.put(f"/v1/files/{path}", content=text.encode(codec)).raise_for_status()
        page = (
            screen.sign_in(ann, place=f"files?file={path}")
            if path == "a.csv"
            else screen.open(f"files?file={path}")
        )
        expect(page.get_by_label("What the file says")).to_have_text(text)
        expect(page.get_by_text(f"It is shown as {encoding}")).to_be_visible()
    screen.accessible()


def test_a_file_is_replaced_and_an_earlier_version_restored(screen: Screen, ann: Person) -> None:
    ann.put_file("a.md", "first")
    page = screen.sign_in(ann, place="files?file=a.md")
    drop(page, "Replace it", **{"other.md": "second"})
    page.get_by_role("dialog").get_by_role("button", name="Replace").click()
    expect(page.get_by_label("What the file says")).to_have_text("second")
    assert ann.file("a.md") == "second"
    screen.accessible()
    screen.picture("versions")
    page.get_by_role("button", name="Restore").click()
    page.get_by_role("dialog").get_by_role("button", name="Restore").click()
    expect(page.get_by_label("What the file says")).to_have_text("first")
    expect(page.get_by_role("table", name="Versions").get_by_role("row")).to_have_count(4)
    assert ann.file("a.md") == "first"


def test_an_earlier_version_is_compared_with_the_file_as_it_is(screen: Screen, ann: Person) -> None:
    ann.put_file("a.md", f"same\nbefore {MARKUP}\n")
    (first,) = ann.items("/v1/files/a.md", versions="1")
    if ann.get("/v1/files/a.md", version=first["version_id"]).status_code != 200:
        pytest.skip("the stack that is up was deployed before versions could be read")
    ann.put_file("a.md", "same\nafter\n")
    page = screen.sign_in(ann, place="files?file=a.md")
    page.get_by_role("button", name="Compare").click()
    changed = page.get_by_label("What has changed", exact=True)
    expect(changed).to_contain_text(f"before {MARKUP}")
    expect(changed).to_contain_text("after")
    screen.accessible()
    screen.picture("compared")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Compare")).to_be_focused()


def test_a_file_is_deleted_by_keyboard_alone_and_comes_back(screen: Screen, ann: Person) -> None:
    ann.put_file("a.md", "first")
    page = screen.sign_in(ann, place="files?file=a.md")
    page.get_by_role("button", name="Delete").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Leave it")).to_be_focused()
    screen.accessible()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("This file was deleted")).to_be_visible()
    assert ann.files() == set()
    page.get_by_role("button", name="Restore").click()
    dialog.get_by_role("button", name="Restore").click()
    expect(page.get_by_label("What the file says")).to_have_text("first")


def test_a_file_that_an_agent_deleted_is_listed_where_it_was_and_restored(
    screen: Screen, ann: Person
) -> None:
    ann.put_file("in/a.md", "first")
    ann.put_file("top.md", "1")
    assert ann.delete("/v1/files/in/a.md").status_code == 204
    page = screen.sign_in(ann, place="files")
    expect(page.get_by_role("table", name="Files").get_by_role("row")).to_contain_text(["Name", "top.md1 B"])
    expect(page.get_by_role("columnheader", name="Holds")).to_have_count(0)
    page.get_by_text("Deleted", exact=True).click()
    deleted = page.get_by_role("table", name="Deleted")
    expect(deleted.get_by_role("row")).to_contain_text(["Name", "in/a.md"])
    screen.accessible()
    screen.picture("files-deleted")
    deleted.get_by_role("link", name="in/a.md").click()
    expect(page.get_by_text("This file was deleted")).to_be_visible()
    page.get_by_role("button", name="Restore").click()
    page.get_by_role("dialog").get_by_role("button", name="Restore").click()
    expect(page.get_by_label("What the file says")).to_have_text("first")


def test_a_file_that_somebody_changed_meanwhile_is_neither_deleted_nor_replaced_unseen(
    screen: Screen, ann: Person
) -> None:
    ann.put_file("a.md", "first")
    page = screen.sign_in(ann, place="files?file=a.md")
    page.get_by_role("button", name="Delete").click()
    ann.put_file("a.md", "of somebody else")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Delete").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Somebody changed this file meanwhile")
    screen.accessible()
    screen.picture("file-conflict")
    dialog.get_by_role("button", name="Leave it").click()
    expect(page.get_by_label("What the file says")).to_have_text("of somebody else")
    assert ann.file("a.md") == "of somebody else"


def test_what_came_meanwhile_is_not_replaced_by_an_upload_or_a_restore_unseen(
    screen: Screen, ann: Person
) -> None:
    ann.put_file("a.md", "first")
    ann.put_file("a.md", "second")
    if "etag" not in ann.items("/v1/files/a.md", versions="1")[0]:
        pytest.skip("the stack that is up was deployed before writes could name what they replace")
    page = screen.sign_in(ann, place="files?file=a.md")
    dialog = page.get_by_role("dialog")
    drop(page, "Replace it", **{"other.md": "mine"})
    ann.put_file("a.md", "of somebody else")
    dialog.get_by_role("button", name="Replace").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Somebody changed this file meanwhile")
    assert ann.file("a.md") == "of somebody else"
    screen.accessible()
    dialog.get_by_role("button", name="Replace").click()
    expect(page.get_by_label("What the file says")).to_have_text("mine")
    page.get_by_role("button", name="Restore").last.click()
    ann.put_file("a.md", "of somebody else again")
    dialog.get_by_role("button", name="Restore").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Somebody changed this file meanwhile")
    assert ann.file("a.md") == "of somebody else again"
    ann.delete("/v1/files/a.md")
    dialog.get_by_role("button", name="Leave it").click()
    page.reload()
    drop(page, "Store a new one", **{"other.md": "mine"})
    ann.put_file("a.md", "new meanwhile")
    dialog.get_by_role("button", name="Replace").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Somebody changed this file meanwhile")
    assert ann.file("a.md") == "new meanwhile"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_hostile_names_and_contents_are_text_also_on_a_phone(
    screens: Screens, ann: Person, scheme: str
) -> None:
    ann.put_file(f"{MARKUP}.md", HOSTILE)
    ann.put_file(f"{'long' * 50}.md", "x")
    ann.put_file("__proto__/x", "x")
    screen = screens(viewport=PHONE, color_scheme=scheme)
    page = screen.sign_in(ann, place="files")
    expect(page.get_by_role("table", name="Files").get_by_role("row")).to_have_count(4)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    screen.accessible()
    screen.picture(f"files-phone-{scheme}")
    page.get_by_role("link", name=MARKUP).click()
    expect(page.get_by_label("What the file says")).to_contain_text("<script>alert(1)</script>")
    expect(page.get_by_label("What the file says")).to_contain_text("⟨U+202E⟩gnp⟨U+200B⟩")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"{MARKUP}.md")
    expect(page.get_by_text("This is the beginning: 100,000 of")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    screen.accessible()
    screen.picture(f"file-phone-{scheme}")


def test_who_may_not_change_a_shared_file_reads_who_may(screen: Screen, ann: Person, behind: Behind) -> None:
    for content in ("first", "second"):
        ann.put_file("a.md", content)
        ann.put_file("~/a.md", content)
    with behind.configured("admin", "status", ACTA_FILE_CHANGE_ROLE="admin"):
        page = screen.sign_in(ann, place="files?file=a.md")
        expect(
            page.get_by_text("People with the role admin replace, restore and delete shared files")
        ).to_be_visible()
        for name in ("Delete", "Restore"):
            expect(page.get_by_role("button", name=name)).to_have_count(0)
        expect(page.locator(".dropzone")).to_have_count(0)
        page = screen.sign_in(ann, place="files?file=~/a.md")
        expect(page.get_by_role("button", name="Delete")).to_be_visible()
        expect(page.get_by_role("button", name="Restore")).to_be_visible()
