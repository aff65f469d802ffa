"""Agents for browsers: a game's rules, its search and a net as WebAssembly, and the page that uses them."""
