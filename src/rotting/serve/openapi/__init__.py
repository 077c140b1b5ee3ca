"""What the service takes and answers, as an OpenAPI document."""

from rotting.serve.openapi.document import description

__all__ = ["description"]
