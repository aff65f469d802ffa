from azero.games.laws import check_laws

__all__ = ["check_laws"]
