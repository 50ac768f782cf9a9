# mypy: disable-error-code="import-not-found, misc, untyped-decorator"
"""The same work as LangGraph does it, with its DynamoDB saver: an agent node, a tools node, messages in the state.

Run by the interpreter of `.venv-bench`. Arguments: AWS's endpoint, table, bucket, size, turns, setting, and what is
done: `run`, or `resume` what a run left. The model is played inside the agent's node; the tool reads the file from S3.

Settings: `default`; `packed` has the saver's compression and its offload to S3, both off by default; `delta` has
these and the messages in a DeltaChannel, which is beta in the release measured.
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, TypedDict

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import boto3
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.channels import DeltaChannel
from langgraph.graph import END, START, MessagesState, StateGraph, add_messages
from langgraph_checkpoint_aws import DynamoDBSaver

from tests.bench.beside.outcome import told
from tests.bench.stand.script import PLAN, reading


class State(MessagesState):
    """The messages, and the plan beside them."""

    plan: dict[str, Any]


def _joined(state: Sequence[AnyMessage], writes: Sequence[Any]) -> Any:
    for each in writes:
        state = add_messages(list(state), each)
    return state


class DeltaState(TypedDict):
    messages: Annotated[list[AnyMessage], DeltaChannel(_joined)]
    plan: dict[str, Any]


def main() -> None:
    since = time.process_time()
    endpoint, table, bucket, size, turns, setting, doing = sys.argv[1:8]
    last, said = int(turns), reading(size, int(turns))[1:-1]
    session = boto3.Session(region_name="us-east-1")
    files = session.client("s3", endpoint_url=endpoint)
    done = 0

    def agent(state: Any) -> dict[str, Any]:
        nonlocal done
        done = turn = sum(1 for message in state["messages"] if isinstance(message, ToolMessage))
        if turn == last:
            return {"messages": [AIMessage("All notes are read.")]}
        calls = [
            {"name": call.name, "args": call.input, "id": f"toolu_{turn:024d}"} for call in said[turn].calls
        ]
        usage = {"input_tokens": 1_000, "output_tokens": 60, "total_tokens": 1_060}
        return {"messages": [AIMessage(said[turn].text, tool_calls=calls, usage_metadata=usage)]}

    def tools(state: Any) -> dict[str, Any]:
        call = state["messages"][-1].tool_calls[0]
        text = files.get_object(Bucket=bucket, Key=call["args"]["path"])["Body"].read().decode()
        return {"messages": [ToolMessage(text, tool_call_id=call["id"], name=call["name"])]}

    def following(state: Any) -> str:
        return "tools" if state["messages"][-1].tool_calls else END

    graph = StateGraph(DeltaState if setting == "delta" else State)
    graph.add_node("agent", agent)
    graph.add_node("tools", tools)
    graph.add_edge(START, "agent")
    graph.add_conditional_edges("agent", following, ["tools", END])
    graph.add_edge("tools", "agent")
    packed: dict[str, Any] = {
        "enable_checkpoint_compression": True,
        "s3_offload_config": {"bucket_name": bucket, "endpoint_url": endpoint, "key_prefix": "langgraph"},
    }
    saver = DynamoDBSaver(
        table_name=table, session=session, endpoint_url=endpoint, **(packed if setting != "default" else {})
    )
    app = graph.compile(checkpointer=saver)
    config = {"configurable": {"thread_id": f"{size}-{turns}"}, "recursion_limit": 2 * last + 10}
    if doing == "resume":
        found = app.get_state(config).values["messages"]
        told(sum(1 for message in found if isinstance(message, ToolMessage)), since)
        return
    first = {
        "messages": [SystemMessage("You are an agent."), HumanMessage("Read all field notes.")],
        "plan": PLAN,
    }
    try:
        app.invoke(first, config)
    except Exception as error:  # where it ends is what is asked for
        told(done, since, error)
    else:
        told(last, since)


if __name__ == "__main__":
    main()
