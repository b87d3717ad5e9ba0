"""Describes an image: the targets of its code, and its kernels with their parameters."""

import re
from dataclasses import dataclass
from typing import Dict, Optional, Tuple


class ImageError(Exception):
    """The reason why an image cannot be used; the text follows the image's name: "is cut off"."""


# The form of names in PTX. Other names would be unsafe in annotations, C strings and messages.
_NAME = re.compile(r'[A-Za-z_$%][\w$%]*', re.ASCII)
_SHOWN = 80


def check_name(name):
    """Raises ImageError for a kernel's name that no compiler would write."""
    if not _NAME.fullmatch(name):
        raise ImageError(f'is damaged: it has a kernel called {name[:_SHOWN]!a}, which is no name')


@dataclass(frozen=True)
class Entry:
    """A kernel of an image. Sizes are in bytes."""
    params: Tuple[int, ...]
    types: Tuple[str, ...] = ()             # PTX types of the parameters: such as u64, or ptr for declared pointers
    block: Tuple[int, ...] = ()             # the block size that it requires


@dataclass(frozen=True)
class Facts:
    """The facts of an image. Targets are spelled as in 80 or 90a."""
    sm: Tuple[str, ...]                     # targets with machine code
    ptx: Tuple[str, ...]
    entries: Optional[Dict[str, Entry]]     # None: a part of the image is compressed
