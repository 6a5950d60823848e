"""Where random bits come from: a cryptographic keystream keyed by the operating system.

A sampler is exact only up to the quality of its bits, so there are two sources and their names say which is
which: `SecureRandom` (AES-256 in counter mode, key from ``os.urandom``, cannot be seeded) draws privacy
noise; `InsecureSeededRandom` repeats itself on purpose and is for tests.
"""

from __future__ import annotations

import hashlib
import os
import threading
from abc import ABC, abstractmethod
from typing import Any, Final, NoReturn

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from rowspace.exceptions import InvalidInput

_ZEROS: Final = memoryview(bytes(1 << 18))
_CIPHER_BLOCK: Final = 16
# A keystream of b blocks differs from ideal bits with advantage at most b²/2¹²⁹ (AES as a random
# permutation never repeats a block). Changing the key after 2⁴⁰ bytes = 2³⁶ blocks keeps that below 2⁻⁵⁷.
_BYTES_PER_KEY: Final = 1 << 40


class BitSource(ABC):
    """A stream of independent fair bits, handed out as arrays of unsigned words; no bit is handed out twice.

    A subclass provides `words8`; wider words are the same bytes seen as machine integers.
    """

    @abstractmethod
    def words8(self, count: int) -> NDArray[np.uint8]:
        """Return `count` fresh uniform bytes, shape (count,), contiguous and owned by the caller."""

    def words32(self, count: int) -> NDArray[np.uint32]:
        """Return `count` fresh uniform 32-bit words, shape (count,)."""
        return self.words8(4 * count).view(np.uint32)

    def words64(self, count: int) -> NDArray[np.uint64]:
        """Return `count` fresh uniform 64-bit words, shape (count,)."""
        return self.words8(8 * count).view(np.uint64)


class _Keystream:
    """AES-256-CTR from one key: encrypting zeros yields the keystream itself."""

    def __init__(self, key: bytes, nonce: bytes) -> None:
        self._encryptor = Cipher(algorithms.AES256(key), modes.CTR(nonce)).encryptor()
        self.produced = 0

    def read(self, count: int) -> NDArray[np.uint8]:
        # `update_into` insists on room for one block more than it writes. Nothing is buffered between calls:
        # what is not kept cannot be handed out twice.
        out = np.empty(count + _CIPHER_BLOCK - 1, dtype=np.uint8)
        room = out.data
        for start in range(0, count, len(_ZEROS)):
            piece = min(len(_ZEROS), count - start)
            self._encryptor.update_into(_ZEROS[:piece], room[start:])
        self.produced += count
        return out[:count]


class _ForkCount:
    """How many forks lie between the first process and this one."""

    value = 0

    @classmethod
    def advance(cls) -> None:
        cls.value += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_ForkCount.advance)


class SecureRandom(BitSource):
    """Bits for privacy noise: AES-256-CTR with key and counter start from ``os.urandom``.

    It cannot be seeded, copied or pickled. About 7 GB/s where the processor has vector AES instructions.

    Guarantees
    ----------
    - Two instances, two runs, two threads and the two sides of a fork never share a stream
      (``tests/noise/test_bits.py``: `test_instances_differ`, `test_threads_differ`,
      `test_fork_changes_the_stream`, `test_two_runs_never_share_noise`).
    - The stream is AES-256-CTR, block for block (`test_keystream_is_aes_ctr`), and no key is used for more
      than 2⁴⁰ bytes (`test_key_is_changed`).
    - It cannot be duplicated (`test_secure_random_cannot_be_copied`).

    Examples
    --------
    >>> SecureRandom().words64(3).shape
    (3,)
    """

    def __init__(self) -> None:
        # One key per thread: no lock to hold during a fork, no race that could hand the same bits to two
        # threads.
        self._of_this_thread = threading.local()

    def words8(self, count: int) -> NDArray[np.uint8]:
        """Return `count` fresh uniform bytes; a forked child or a new thread starts with a key of its own."""
        local = self._of_this_thread
        # The fork count catches a child that got the process id of a dead ancestor;
        # the process id catches a fork made by foreign code that Python did not see.
        place = (os.getpid(), _ForkCount.value)
        if getattr(local, "place", None) != place or local.stream.produced >= _BYTES_PER_KEY:
            local.stream = _Keystream(os.urandom(32), os.urandom(_CIPHER_BLOCK))
            local.place = place
        stream: _Keystream = local.stream
        return stream.read(count)

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError(
            "SecureRandom cannot be copied or pickled: a copy would repeat noise; create a new one"
        )


class InsecureSeededRandom(BitSource):
    """A repeatable stream for tests. Noise drawn from it protects nobody: whoever knows the seed removes it.

    Examples
    --------
    >>> first, second = InsecureSeededRandom(7), InsecureSeededRandom(7)
    >>> bool((first.words64(4) == second.words64(4)).all())
    True
    """

    def __init__(self, seed: int) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise InvalidInput(f"expected an integer seed, got {type(seed).__name__}; pass an int")
        key = hashlib.sha256(f"rowspace insecure seed {seed}".encode()).digest()
        self._stream = _Keystream(key, bytes(_CIPHER_BLOCK))

    def words8(self, count: int) -> NDArray[np.uint8]:
        """Return the next `count` bytes of the seeded stream."""
        return self._stream.read(count)
