"""What a browser complains of while it shows a page."""

from urllib.parse import urlsplit


class Watch:
    """Collects errors and warnings of a page: of scripts, of the console, of requests.

    `problems` has one line for each. `allows` holds texts; a line that contains one of them is no problem.
    """

    def __init__(self, page):
        self.page = page
        self.lines: list[str] = []
        self.allows: set[str] = set()
        self.home = ""
        page.on("console", self._console)
        page.on("pageerror", lambda error: self._add(f"error: {error}"))
        page.on("requestfailed", self._failed)
        page.on("response", self._response)
        page.on("request", self._request)

    @property
    def problems(self) -> list[str]:
        return [line for line in self.lines if not any(text in line for text in self.allows)]

    def seen(self) -> str:
        """Returns the page's text, and what it complained of."""
        try:
            text = self.page.locator("body").inner_text(timeout=2_000)
        except Exception as error:  # whatever keeps it from being read, the failed test is the news
            text = f"cannot be read: {error}"
        return "\n".join([text, *self.lines])

    def _add(self, line: str) -> None:
        self.lines.append(line)

    def _console(self, message) -> None:
        if message.type in ("error", "warning"):
            self._add(f"console: {message.type}: {message.text}")

    def _failed(self, request) -> None:
        if request.failure != "net::ERR_ABORTED":  # which is the page's own, or another page is opened
            self._add(f"failed: {request.url}: {request.failure}")

    def _response(self, response) -> None:
        if response.status >= 400:
            self._add(f"status {response.status}: {response.url}")

    def _request(self, request) -> None:
        where = urlsplit(request.url)
        if where.scheme not in ("data", "blob") and where.hostname != "127.0.0.1":
            self._add(f"left the machine: {request.url}")
