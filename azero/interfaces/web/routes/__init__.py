"""The routes of /api/v1. Each module has one router."""
