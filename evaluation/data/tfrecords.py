"""Files of records in TensorFlow's format, read one record at a time and without TensorFlow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from struct import Struct
from typing import final

from evaluation.data.files import Damaged

HEAD, FOOT = Struct("<QI"), Struct("<I")
READ_AHEAD = 2**20


@final
@dataclass(frozen=True, slots=True)
class Record:
    """What a record holds, where it stands, and the checksum that was written with it."""

    path: Path
    offset: int
    content: bytes
    checksum: int

    def check(self) -> None:
        """Refuse the record if its content is not what was written: O(bytes), slow in Python."""
        if masked_crc32c(self.content) != self.checksum:
            raise self.damaged("its content does not match its checksum")

    def damaged(self, why: str) -> Damaged:
        return _damaged(self.path, self.offset, why)


def records(path: Path) -> Iterator[Record]:
    """Yield the records of a file, of which only one is in memory at a time.

    A record is its length (8 bytes), the checksum of that (4), its content, and the checksum of
    that (4). Lengths are checked here, as a wrong one loses all that follows; contents are checked
    by whoever needs them.

    Source: "TFRecord and tf.train.Example", tensorflow.org/tutorials/load_data/tfrecord.
    """
    offset, size = 0, path.stat().st_size
    with path.open("rb", buffering=READ_AHEAD) as stream:
        while head := stream.read(HEAD.size):
            if len(head) < HEAD.size:
                raise _damaged(path, offset, "the file ends within it")
            length, checksum = HEAD.unpack(head)
            if _checksum_of_length(head[:8]) != checksum:
                raise _damaged(path, offset, "its length does not match its checksum")
            end = offset + HEAD.size + length + FOOT.size
            if end > size:  # asked before reading, as it may be far more than there is memory
                raise _damaged(path, offset, "the file ends within it")
            yield Record(path, offset, stream.read(length), *FOOT.unpack(stream.read(FOOT.size)))
            offset = end


def crc32c(content: bytes) -> int:
    """Return the cyclic redundancy check by Castagnoli's polynomial.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    crc = 0xFFFFFFFF
    for byte in content:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def masked_crc32c(content: bytes) -> int:
    """Return the check as the format stores it: turned by 15 bits, and shifted."""
    crc = crc32c(content)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


@lru_cache(maxsize=4096)
def _checksum_of_length(length: bytes) -> int:
    return masked_crc32c(length)  # records of a file have few lengths


def _remainder(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)  # the polynomial, lowest bit first
    return byte


TABLE = tuple(map(_remainder, range(256)))


def _damaged(path: Path, offset: int, why: str) -> Damaged:
    return Damaged(
        f"{path} is damaged in the record at byte {offset}: {why}. Fetch the file again."
    )
