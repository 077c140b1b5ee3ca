"""How objects are drawn and shown in a notebook: two functions with a drawer for each type.

The drawers are registered from above (`reports.drawers`, which `import rotting` loads). So a class
has `plot()` and `_repr_html_()` without an import of the modules that draw it.
"""

from __future__ import annotations

import functools
from typing import Any


@functools.singledispatch
def plot(shown: Any, *, axes: Any = None, **options: Any) -> Any:
    """Draw an object, into these axes or a new figure's; returns the axes.

    Raises:
        TypeError: No drawer is registered for the object's type.
    """
    raise TypeError(f"{type(shown).__name__} has no drawer; import rotting registers them")


@functools.singledispatch
def html(shown: Any) -> str:
    """An object as a notebook shows it, a fragment of HTML.

    Raises:
        TypeError: No drawer is registered for the object's type.
    """
    raise TypeError(f"{type(shown).__name__} has no drawer; import rotting registers them")
