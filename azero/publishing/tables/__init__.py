"""Tables from which a published page writes moves and draws positions, where Python is not there to do it."""
