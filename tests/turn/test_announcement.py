"""What only announces work, and what does not (docs/design/turn.md 16)."""

import pytest

from acta_engine.turn.announcement import MAX_ANNOUNCEMENT_CHARS, announces

ANNOUNCEMENTS = (
    "Let me look into the folders…",
    "Let me look into the folders...",
    "I'll read the file now.",
    "I’ll read the file now.",
    "I will list the files first.",
    "Sure! Let me check that for you.",
    "Okay, I'm going to search the notes.",
    "First, I'll list the files. Then I'll read each of them.",
    "Now let me verify the totals:",
    "To answer this, I need to read notes.md.",
    "Hello! I'll look that up.",
    "I'm checking the invoices now.",
    "Reading notes.md…",
    "<think>The user wants the list.</think>\nLet me list the files.",
    "Ich sehe mir die Ordner an …",
    "Ich werde zuerst die Dateien auflisten.",
    "Zuerst lese ich die Datei.",
    "Ich lese jetzt die Datei.",
    "Lass mich das prüfen.",
    "Je vais lire le fichier.",
    "Laissez-moi vérifier cela.",
    "Voy a revisar los archivos.",
    "Déjame ver los archivos.",
    "Vou verificar os arquivos.",
    "Fammi controllare il file.",
    "Ik ga de bestanden bekijken.",
    "让我看看这些文件。",
    "好的，我先读取文件。",
    "ファイルを確認します。",
)
OTHERS = (
    "",
    "Hi!",
    "Hello! How can I help you today?",
    "Let me know if you need more.",
    "Let me know which folder you mean.",
    "I'll be happy to help.",
    "I'll be here if you need anything else.",
    "I will not do that because it would delete your files.",
    "I won't delete anything.",
    "I'm not going to do that.",
    "I need to know which folder you mean.",
    "Sure!",
    "Thanks!",
    "You are welcome.",
    "The folder has three files.",
    "Let me explain. The folder has three files.",
    "I will start as soon as you tell me the folder.",
    "I'll help you with whatever you need.",
    "Should I read the file now?",
    "Let me check: which folder?",
    "Reading is fun.",
    "I'll be back. The total is 12 EUR.",
    "Ich sehe keine Dateien.",
    "Ich werde das nicht tun.",
    "Lass mich wissen, was du brauchst.",
    "Ich helfe gern.",
    "Je vais bien, merci.",
    "Laissez-moi savoir.",
    "Laat me weten wat je nodig hebt.",
    "こんにちは！",
    "你好！有什么可以帮你？",
    "确认しました。",
    "I'll read the file. " * 20,
)


@pytest.mark.parametrize("text", ANNOUNCEMENTS)
def test_a_text_that_says_what_comes_next_and_nothing_more_is_an_announcement(text: str) -> None:
    assert announces(text)


@pytest.mark.parametrize("text", OTHERS)
def test_an_answer_an_offer_a_refusal_and_a_question_are_none(text: str) -> None:
    assert not announces(text)


def test_a_long_text_is_none_whatever_it_begins_with() -> None:
    assert not announces("Let me see. " * (MAX_ANNOUNCEMENT_CHARS // 12 + 1))
