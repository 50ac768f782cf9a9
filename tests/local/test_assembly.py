from pathlib import Path

import pytest

from acta.infra.local.deploy import KEPT, Assembly, forget_old_assemblies


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in (
        "acta/infra/app.py",
        "acta/infra/local/stack.py",
        "acta/cli/main.py",
        "acta/functions/step/handler.py",
        "acta/engine/x.py",
        "acta/infra/packaging/cdk/package-lock.json",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path


def key(root: Path, **context: str) -> str:
    return Assembly.of_sources(context, root, root / "cache").key


@pytest.mark.parametrize(
    "name",
    [
        "acta/infra/app.py",
        "acta/functions/step/handler.py",
        "acta/engine/x.py",
        "acta/infra/packaging/cdk/package-lock.json",
    ],
)
def test_a_changed_source_is_another_assembly(root: Path, name: str) -> None:
    before = key(root)
    (root / name).write_text("changed")
    assert key(root) != before


def test_a_moved_source_is_another_assembly(root: Path) -> None:
    before = key(root)
    (root / "acta" / "engine" / "x.py").rename(root / "acta" / "engine" / "y.py")
    assert key(root) != before


def test_what_synth_does_not_read_changes_nothing(root: Path) -> None:
    before = key(root)
    (root / "acta" / "infra" / "local" / "stack.py").write_text("changed")
    (root / "acta" / "cli" / "main.py").write_text("changed")
    (root / "acta" / "engine" / "__pycache__").mkdir()
    (root / "acta" / "engine" / "__pycache__" / "x.pyc").write_text("made")
    assert key(root) == before


def test_a_setting_given_to_synth_is_another_assembly(root: Path) -> None:
    assert key(root, retry_base_seconds="3") != key(root)


def test_an_unfinished_folder_is_not_an_assembly(root: Path) -> None:
    assembly = Assembly.of_sources({}, root, root / "cache")
    assembly.folder.mkdir(parents=True)
    assert not assembly.is_synthesised
    (assembly.folder / "manifest.json").write_text("{}")
    assert assembly.is_synthesised


def test_old_assemblies_are_forgotten(tmp_path: Path) -> None:
    for number in range(KEPT + 3):
        (tmp_path / f"a{number}").mkdir()
        (tmp_path / f"a{number}" / "manifest.json").write_text("{}")
    forget_old_assemblies(tmp_path)
    assert len(list(tmp_path.iterdir())) == KEPT
