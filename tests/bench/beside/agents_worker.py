# mypy: disable-error-code="import-not-found"
"""An agent of LangGraph or of Deep Agents does a task, and asks a model server as its framework does by default.

Run by the interpreter of `.venv-bench`. Argument: which agent. On each line of JSON it is told the task; on a line it
tells what the agent answered. The tools are those of Acta's agent, from the same file.
"""

import importlib
import json
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deepagents import create_deep_agent
from langchain.agents.middleware import TodoListMiddleware
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent

MOST_STEPS = 100
AGENTS: dict[str, Callable[[Any, list[Any], str], Any]] = {
    "langgraph": lambda model, tools, system: create_react_agent(model, tools, prompt=system),
    "deep_agents": lambda model, tools, system: create_deep_agent(model, tools, system_prompt=system),
    "deep_agents_planning": lambda model, tools, system: create_deep_agent(
        model, tools, system_prompt=system, middleware=[TodoListMiddleware()]
    ),
}


def main() -> None:
    make, shop = AGENTS[sys.argv[1]], _tools()
    for line in sys.stdin:
        task = json.loads(line)
        model = ChatOpenAI(
            model=task["model"], base_url=task["url"], api_key="scripted", use_responses_api=False
        )
        agent = make(model, [getattr(shop, name) for name in task["tools"]], task["system"])
        told = agent.invoke({"messages": [("user", task["message"])]}, {"recursion_limit": MOST_STEPS})
        print(json.dumps(told["messages"][-1].content), flush=True)


def _tools() -> Any:
    """The module of Acta's agent, with LangChain's decorator in the place of Acta's."""
    sys.path.insert(0, str(Path(__file__).parent / "tools" / "shop"))
    sys.modules["acta"] = types.SimpleNamespace(tool=lambda **_: tool)  # type: ignore[assignment]
    return importlib.import_module("tools")


if __name__ == "__main__":
    main()
