"""The client of the service: it needs httpx, and nothing else of what the service needs."""

from rotting._serve.client.answers import Away, Choice, PartlyRefused, Refused
from rotting._serve.client.client import Client

__all__ = ["Away", "Choice", "Client", "PartlyRefused", "Refused"]
