# mypy: disable-error-code="import-not-found, misc"
"""The same work as LangGraph does it, with its DynamoDB saver: an agent node, a tools node, messages in the state.

Run by the interpreter of `.venv-bench`. Arguments: AWS's endpoint, table, size, turns. The model and the tool are
played inside the nodes, so all that goes over the wire is the saver's. The compression the saver offers is off, as
it is by default.
"""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import boto3
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph_checkpoint_aws import DynamoDBSaver

from tests.bench.stand.script import PLAN, note, reading


class State(MessagesState):
    """The messages, and the plan beside them."""

    plan: dict[str, Any]


def main() -> None:
    endpoint, table, size, turns = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    said = reading(size, turns)[1:-1]

    def agent(state: State) -> dict[str, Any]:
        turn = sum(1 for message in state["messages"] if isinstance(message, ToolMessage))
        if turn == turns:
            return {"messages": [AIMessage("All notes are read.")]}
        calls = [
            {"name": call.name, "args": call.input, "id": f"toolu_{turn:024d}"} for call in said[turn].calls
        ]
        usage = {"input_tokens": 1_000, "output_tokens": 60, "total_tokens": 1_060}
        return {"messages": [AIMessage(said[turn].text, tool_calls=calls, usage_metadata=usage)]}

    def tools(state: State) -> dict[str, Any]:
        turn = sum(1 for message in state["messages"] if isinstance(message, ToolMessage))
        calls = state["messages"][-1].tool_calls
        text = note(size, turn)[1]
        return {"messages": [ToolMessage(text, tool_call_id=call["id"], name=call["name"]) for call in calls]}

    def following(state: State) -> str:
        return "tools" if state["messages"][-1].tool_calls else END

    session = boto3.Session(region_name="us-east-1")
    graph = StateGraph(State)
    graph.add_node("agent", agent)
    graph.add_node("tools", tools)
    graph.add_edge(START, "agent")
    graph.add_conditional_edges("agent", following, ["tools", END])
    graph.add_edge("tools", "agent")
    app = graph.compile(checkpointer=DynamoDBSaver(table_name=table, session=session, endpoint_url=endpoint))
    first = {
        "messages": [SystemMessage("You are an agent."), HumanMessage("Read all field notes.")],
        "plan": PLAN,
    }
    config = {"configurable": {"thread_id": f"{size}-{turns}"}, "recursion_limit": 2 * turns + 10}
    app.invoke(first, config)


if __name__ == "__main__":
    main()
