"""The client of `rotting serve`. Of the service's dependencies it needs httpx only."""

from rotting._serve.client import Away, Choice, Client, PartlyRefused, Refused

__all__ = ["Away", "Choice", "Client", "PartlyRefused", "Refused"]
