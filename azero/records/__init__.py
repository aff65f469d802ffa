"""Records of games: trees of moves with comments, read and written as text or as SGF."""

from azero.records.files import read_records as read_records
from azero.records.files import save_records as save_records
from azero.records.record import Node as Node
from azero.records.record import Record as Record
