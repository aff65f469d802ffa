"""The laws that every game must keep, and the checks of them."""
