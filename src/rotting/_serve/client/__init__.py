"""The client of the service; it imports httpx and nothing of the server."""

from rotting._serve.client.answers import Away, Choice, PartlyRefused, Refused
from rotting._serve.client.client import Client

__all__ = ["Away", "Choice", "Client", "PartlyRefused", "Refused"]
