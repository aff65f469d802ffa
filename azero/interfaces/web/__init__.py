"""The server of `azero serve`: the HTTP interface under /api/v1, and the page that uses it."""
