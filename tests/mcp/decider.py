"""A user's program with the official Python client, in an environment that has nothing of Acta: it asks for a decision
as a model would. `python decider.py` prints what its person was shown, and what came of it.

MCP_MODE is the protocol's version or `legacy`. MCP_ANSWER is the option that the person chooses; empty: the client can
ask nobody.
"""

import asyncio
import json
import os

import httpx2
from mcp.client import Client, ClientRequestContext
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitRequestParams, ElicitResult

shown: list[dict[str, object]] = []


async def person(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
    shown.append(params.model_dump(by_alias=True, mode="json"))
    return ElicitResult(action="accept", content={"option": os.environ["MCP_ANSWER"]})


async def main() -> None:
    headers = {"Authorization": f"Bearer {os.environ['MCP_TOKEN']}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(os.environ["MCP_URL"], http_client=http)
        asks = person if os.environ["MCP_ANSWER"] else None
        async with Client(transport, mode=os.environ["MCP_MODE"], elicitation_callback=asks) as client:
            result = await client.call_tool("decide", json.loads(os.environ["MCP_ARGUMENTS"]))
    texts = [block.text for block in result.content]
    print(json.dumps({"shown": shown, "texts": texts, "is_error": result.is_error}))


asyncio.run(main())
