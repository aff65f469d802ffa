"""Errors as answers: `{"error": {"code", "message"}}`, with the place and the value where they mean something."""

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from azero.errors import BadInput

_MOST_CHARACTERS = 300  # of a message or a value: both may repeat what the request said

_LOGGER = logging.getLogger(__name__)

_CODES = {400: "bad_request", 404: "not_found", 405: "method_not_allowed", 413: "too_large", 415: "not_json"}


class ApiError(Exception):
    """A request that is answered by an error.

    Attributes:
      status: of HTTP.
      code: a word for programs.
      message: one line for people.
      at: the index of the move that is wrong, if one is.
      value: what was wrong.
      retry_s: seconds after which the request may succeed.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        at: int | None = None,
        value: str | None = None,
        retry_s: int | None = None,
    ):
        super().__init__(message)
        self.status, self.code, self.message = status, code, message
        self.at, self.value, self.retry_s = at, value, retry_s

    def to_json(self) -> dict[str, Any]:
        """Returns the object that is sent."""
        error: dict[str, Any] = {"code": self.code, "message": short(self.message)}
        if self.at is not None:
            error["at"] = self.at
        if self.value is not None:
            error["value"] = short(self.value)
        return {"error": error}

    def to_response(self) -> JSONResponse:
        """Returns the answer."""
        headers = {} if self.retry_s is None else {"Retry-After": str(self.retry_s)}
        return JSONResponse(self.to_json(), self.status, headers)


def short(text: str) -> str:
    """Returns a text as one line that can be sent: not too long, and without half characters."""
    line = " ".join(text.encode("utf-8", "replace").decode().split())
    return line if len(line) <= _MOST_CHARACTERS else f"{line[: _MOST_CHARACTERS - 3]}..."


def as_api_error(error: BaseException) -> ApiError:
    """Returns the answer to an error. What nobody expected is written to stderr."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, BadInput):
        return ApiError(422, "bad_input", str(error))
    if isinstance(error, HTTPException):
        return ApiError(error.status_code, _CODES.get(error.status_code, "bad_request"), str(error.detail))
    _LOGGER.error("unexpected error", exc_info=error)
    return ApiError(500, "internal", f"unexpected error: {type(error).__name__}")


def add_handlers(app: FastAPI) -> None:
    """Makes every error of the app an answer of this form, but those that nobody expected: see `guard.Guard`."""

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        if first["loc"] == ("body",) and "json" not in request.headers.get("content-type", "").lower():
            message = "the body should be JSON, with the header Content-Type: application/json"
            return ApiError(415, "not_json", message).to_response()
        *path, last = first["loc"]
        if path[-2:] == ["moves", "list"]:
            move = str(first["input"])
            return ApiError(422, "illegal_move", f"move {last + 1}: {first['msg']}", last, move).to_response()
        place = ".".join(str(each) for each in first["loc"][1:]) or str(first["loc"][0])
        if first["type"] == "json_invalid":
            place = f"character {last}"
        return ApiError(422, "invalid", f"{place}: {first['msg']}", value=place).to_response()

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> JSONResponse:
        response = as_api_error(error).to_response()
        response.headers.update(error.headers or {})
        return response

    @app.exception_handler(ApiError)
    @app.exception_handler(BadInput)
    async def known(request: Request, error: Exception) -> JSONResponse:
        return as_api_error(error).to_response()
