"""What only announces work, and what does not (docs/design/turn.md 16)."""

import pytest

from acta.engine.turn.announcement import MAX_ANNOUNCEMENT_CHARS, announces, words_before_call

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


TOOLS = ("lookup", "update_plan")
IN_HERMES = '<tool_call>\n{"name": "lookup", "arguments": {"q": "7"}}\n</tool_call>'
CALLS = (
    IN_HERMES,
    f"I will look that up.\n\n{IN_HERMES}",
    f"<think>The user wants 7.</think>\n{IN_HERMES}",
    f"GOAL_COMPLETE\n{IN_HERMES}",
    f"{IN_HERMES}\nGOAL_COMPLETE",
    f"{IN_HERMES}\n<tool_response>12</tool_response>\nIt is 12.",
    IN_HERMES.replace("lookup", "made_up"),
    "<tool_call>lookup\n<arg_key>q</arg_key>\n<arg_value>7</arg_value>\n</tool_call>",
    "<tool_call>\n<function=lookup>\n<parameter=q>\n7\n</parameter>\n</function>\n</tool_call>",
    '<function=lookup>{"q": "7"}</function>',
    '<minimax:tool_call>\n<invoke name="lookup">\n<parameter name="q">7</parameter>\n</invoke>\n</minimax:tool_call>',
    '<function_calls>\n<invoke name="lookup">\n</invoke>\n</function_calls>',
    '[TOOL_CALLS][{"name": "lookup", "arguments": {"q": "7"}}]',
    '[TOOL_CALLS]lookup[ARGS]{"q": "7"}',
    'Let me look.\n<|python_tag|>lookup.call(q="7")',
    '<|tool_call|>[{"name": "lookup", "arguments": {"q": "7"}}]',
    '<|channel|>commentary to=functions.lookup <|constrain|>json<|message|>{"q": "7"}<|call|>',
    '<|start|>assistant<|channel|>commentary to=lookup <|message|>{"q": "7"}<|call|>',
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.lookup:0<|tool_call_argument_begin|>{"q": "7"}'
    "<|tool_call_end|><|tool_calls_section_end|>",
    "Let me look.\n<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>lookup<｜tool▁sep｜>{}<｜tool▁call▁end｜>",
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>lookup\n```json\n{}\n```<｜tool▁call▁end｜>",
    '```tool_code\nlookup(q="7")\n```',
    '{"name": "lookup", "parameters": {"q": "7"}}',
    '```json\n{"type": "function", "name": "update_plan", "arguments": {"action": "create"}}\n```',
    '[{"name": "lookup", "arguments": "{}"}, {"name": "lookup", "arguments": {}}]',
)
EXPLANATIONS = (
    "",
    "The order is 12.",
    "Hermes models write `<tool_call>` around a call.",
    "<tool_call> is what Hermes models write.",
    "<|tool_call_begin|> stands before a call.",
    f"Hermes models write a call so:\n```\n{IN_HERMES}\n```\nThe name is that of a tool.",
    f"You see it at the end.\n```xml\n{IN_HERMES}\n```",
    'Hermes models write a call so:\n\n<tool_call>\n{"name": "get_weather", "arguments": {}}\n</tool_call>',
    'The call is {"name": "lookup", "arguments": {}}.',
    '{"name": "get_weather", "arguments": {}}',
    '{"name": "lookup", "arguments": {}, "result": 12}',
    '[{"name": "lookup", "parameters": {"q": "text"}, "description": "Looks."}]',
    '{"name": "lookup"}',
    '{"name": ["lookup"], "arguments": {}}',
    '{"name": "lookup", "arguments": {}',
    "[" * 100_000,
    "[]",
)


@pytest.mark.parametrize("text", CALLS)
def test_a_call_in_the_text_is_found_in_the_form_of_each_family_of_models(text: str) -> None:
    assert words_before_call(text, TOOLS) == ""


def test_words_that_say_more_than_that_a_call_comes_stand_before_it() -> None:
    assert words_before_call(f"The first order is 12.\n{IN_HERMES}", TOOLS) == "The first order is 12."


@pytest.mark.parametrize("text", EXPLANATIONS, ids=lambda text: text[:40])
def test_an_answer_that_explains_calls_has_none(text: str) -> None:
    assert words_before_call(text, TOOLS) is None
