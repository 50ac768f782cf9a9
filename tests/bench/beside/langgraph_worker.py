# mypy: disable-error-code="import-not-found, misc, untyped-decorator"
"""The same work as LangGraph does it, with its DynamoDB saver: an agent node, a tools node, messages in the state.

Run by the interpreter of `.venv-bench`. Arguments: AWS's endpoint and the setting; what is asked comes a line each
(`outcome.Asked`). The model is played inside the agent's node; the tool reads the file from S3.

Settings: `default`; `packed` has the saver's compression and its offload to S3, both off by default; `delta` has
these and the messages in a DeltaChannel, which is beta in the release measured.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypedDict

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import boto3
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.channels import DeltaChannel
from langgraph.graph import END, START, MessagesState, StateGraph, add_messages
from langgraph_checkpoint_aws import DynamoDBSaver

from tests.bench.beside.outcome import RESUME, Asked, Ended, serve
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
    endpoint, setting = sys.argv[1:3]
    session = boto3.Session(region_name="us-east-1")
    files = session.client("s3", endpoint_url=endpoint)

    def work(asked: Asked) -> Ended:
        return _work(Aws(endpoint, session, files), setting, asked)

    serve(work)


class Aws(NamedTuple):
    endpoint: str
    session: boto3.Session
    files: Any


def _work(aws: Aws, setting: str, asked: Asked) -> Ended:
    said = reading(asked.size, asked.turns)[1:-1]
    made = 0

    def agent(state: Any) -> dict[str, Any]:
        nonlocal made
        made = turn = _turns(state)
        if turn == asked.turns:
            return {"messages": [AIMessage("All notes are read.")]}
        calls = [
            {"name": call.name, "args": call.input, "id": f"toolu_{turn:024d}"} for call in said[turn].calls
        ]
        usage = {"input_tokens": 1_000, "output_tokens": 60, "total_tokens": 1_060}
        return {"messages": [AIMessage(said[turn].text, tool_calls=calls, usage_metadata=usage)]}

    def tools(state: Any) -> dict[str, Any]:
        call = state["messages"][-1].tool_calls[0]
        text = aws.files.get_object(Bucket=asked.bucket, Key=call["args"]["path"])["Body"].read().decode()
        return {"messages": [ToolMessage(text, tool_call_id=call["id"], name=call["name"])]}

    def following(state: Any) -> str:
        return "tools" if state["messages"][-1].tool_calls else END

    graph = StateGraph(DeltaState if setting == "delta" else State)
    graph.add_node("agent", agent)
    graph.add_node("tools", tools)
    graph.add_edge(START, "agent")
    graph.add_conditional_edges("agent", following, ["tools", END])
    graph.add_edge("tools", "agent")
    app = graph.compile(checkpointer=_saver(aws, setting, asked))
    config = {"configurable": {"thread_id": asked.session}, "recursion_limit": 2 * asked.turns + 10}
    if asked.doing == RESUME:
        return Ended(_turns(app.get_state(config).values))
    first = {
        "messages": [SystemMessage("You are an agent."), HumanMessage("Read all field notes.")],
        "plan": PLAN,
    }
    try:
        app.invoke(first, config)
    except Exception as error:  # where it ends is what is asked for
        return Ended(made, error)
    return Ended(made)


def _turns(state: Any) -> int:
    return sum(1 for message in state["messages"] if isinstance(message, ToolMessage))


def _saver(aws: Aws, setting: str, asked: Asked) -> DynamoDBSaver:
    packed: dict[str, Any] = {
        "enable_checkpoint_compression": True,
        "s3_offload_config": {
            "bucket_name": asked.bucket, "endpoint_url": aws.endpoint, "key_prefix": "langgraph",
        },
    }  # fmt: skip
    chosen = {} if setting == "default" else packed
    return DynamoDBSaver(asked.table, session=aws.session, endpoint_url=aws.endpoint, **chosen)


if __name__ == "__main__":
    main()
