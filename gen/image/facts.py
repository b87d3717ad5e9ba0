"""What is known of an image: the targets of its code, and its kernels with their parameters."""

import re
from dataclasses import dataclass
from typing import Dict, Optional, Tuple


class ImageError(Exception):
    """The reason why an image cannot be used; the text follows the image's name: "is cut off"."""


# Names of PTX. They are printed into annotations, C strings and messages.
_NAME = re.compile(r'[A-Za-z_$%][\w$%]*', re.ASCII)
_SHOWN = 80


def check_name(name):
    """Raises ImageError for a kernel's name that no compiler gives."""
    if not _NAME.fullmatch(name):
        raise ImageError(f'is damaged: it has a kernel called {name[:_SHOWN]!a}, which is no name')


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
