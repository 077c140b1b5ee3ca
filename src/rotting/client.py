"""The client of `rotting serve`. It needs httpx, and nothing else of what the service needs."""

from rotting._serve.client import Away, Choice, Client, PartlyRefused, Refused

__all__ = ["Away", "Choice", "Client", "PartlyRefused", "Refused"]
