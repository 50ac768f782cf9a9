"""Stands in for a model where nobody has a key: it answers Chat Completions from a script, and thinks nothing.

A script is YAML: for each agent, by words of its system prompt, what it says in each of its turns: `say: a text`, or
`use: tool` with `with: its arguments`, or a list of those under `uses`. After the last one it says the last one again.
In both `{{last line}}` is the last line of the message that it was given first.
"""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Turn = dict[str, Any]


class StandIn(ThreadingHTTPServer):
    """`url` is what `OPENAI_BASE_URL` is set to."""

    daemon_threads = True

    def __init__(self, script: dict[str, list[Turn]]) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.script = script
        self.url = f"http://127.0.0.1:{self.server_port}/v1"

    def turn(self, messages: list[dict[str, Any]]) -> Turn:
        system = str(messages[0]["content"])
        turns = next((turns for words, turns in self.script.items() if words in system), [{"say": "Done."}])
        said = sum(message["role"] == "assistant" for message in messages)
        goal = next(str(message["content"]) for message in messages if message["role"] == "user")
        turn = json.dumps(turns[min(said, len(turns) - 1)])
        filled: Turn = json.loads(
            turn.replace("{{last line}}", json.dumps(goal.strip().rpartition("\n")[2])[1:-1])
        )
        return filled


class _Answers(BaseHTTPRequestHandler):
    server: StandIn

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        turn = self.server.turn(asked["messages"])
        uses = turn.get("uses") or ([turn] if "use" in turn else [])
        calls = [
            {
                "index": place,
                "id": f"call_{len(asked['messages'])}_{place}",
                "type": "function",
                "function": {"name": each["use"], "arguments": json.dumps(each.get("with", {}))},
            }
            for place, each in enumerate(uses)
        ]
        delta = {"role": "assistant", "content": turn.get("say", "")} | (
            {"tool_calls": calls} if calls else {}
        )
        usage = {"prompt_tokens": 400, "completion_tokens": 60, "total_tokens": 460}
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for chunk in (
            {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if calls else "stop"}]},
            {"choices": [], "usage": usage},
        ):
            whole = {
                "id": "x",
                "object": "chat.completion.chunk",
                "created": 0,
                "model": asked["model"],
                **chunk,
            }
            self.wfile.write(f"data: {json.dumps(whole)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""
