"""One emulator at a time on a state directory, whatever its predecessor left there."""

import shutil
from pathlib import Path

import pytest

from acta.local_aws.saved_state import claimed
from acta.local_aws.settings import SCRATCH, Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        port=1, state_dir=tmp_path, code_dir=tmp_path, runtime_python=Path("python"), lambda_endpoint=""
    )


def test_the_scratch_folder_goes_with_its_process(settings: Settings) -> None:
    with claimed(settings):
        assert list(settings.scratch_dir.iterdir()) == []
        (settings.scratch_dir / "code").write_text("")
    assert left(settings) == ["lock"]


def test_a_function_that_still_writes_as_it_dies_is_in_nobody_s_way(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    predecessor = settings.state_dir / f"{SCRATCH}1"
    (predecessor / "lambda-1").mkdir(parents=True)
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", lambda path, **_: None)  # as if new files came up while it runs
        with claimed(settings):
            assert list(settings.scratch_dir.iterdir()) == []
            assert predecessor.exists()
    with claimed(settings):
        assert not predecessor.exists()
    assert left(settings) == ["lock"]


def left(settings: Settings) -> list[str]:
    return sorted(path.name for path in settings.state_dir.iterdir())
