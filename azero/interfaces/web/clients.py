"""Clients: what distinguishes them, and what happens to their work when they have gone."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from fastapi import Request
from starlette.types import Receive

from azero.interfaces.web.errors import ApiError

Result = TypeVar("Result")


def client_of(request: Request) -> str:
    """Returns what distinguishes a client from others: its address."""
    return request.client.host if request.client else ""


async def unless_gone(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """Returns the result of a request's work. If the client hangs up before, cancels the work and raises ApiError."""
    working, leaving = asyncio.create_task(work), asyncio.create_task(_left(request.receive))
    try:
        await asyncio.wait([working, leaving], return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ApiError(400, "gone", "the client has hung up")
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
