"""The client of `rotting serve`. Of the packages that the service needs it needs only httpx."""

from rotting._serve.client import Away, Choice, Client, PartlyRefused, Refused

__all__ = ["Away", "Choice", "Client", "PartlyRefused", "Refused"]
