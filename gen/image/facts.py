"""What is known of an image: the targets of its code, and its kernels with their parameters."""

from dataclasses import dataclass
from typing import Dict, Optional, Tuple


class ImageError(Exception):
    """The reason why an image cannot be used; the text follows the image's name: "is cut off"."""


@dataclass(frozen=True)
class Entry:
    """A kernel of an image. Sizes are in bytes."""
    params: Tuple[int, ...]
    types: Tuple[str, ...] = ()             # of PTX: u64, or ptr of a parameter that is declared as a pointer
    block: Tuple[int, ...] = ()             # the only block that it runs with


@dataclass(frozen=True)
class Facts:
    """Targets are written as 80 or 90a."""
    sm: Tuple[str, ...]                     # with machine code
    ptx: Tuple[str, ...]
    entries: Optional[Dict[str, Entry]]     # None: a part of the image is compressed
