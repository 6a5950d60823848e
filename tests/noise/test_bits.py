"""The bit sources: right stream, never the same stream twice."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from rowspace.exceptions import InvalidInput
from rowspace.noise import InsecureSeededRandom, SecureRandom, bits

from .goodness import assert_fits


def run_python(program: str) -> str:
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], check=True, capture_output=True, text=True
    ).stdout


def test_keystream_is_aes_ctr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "urandom", lambda count: bytes(range(count)))
    drawn = np.concatenate([SecureRandom().words8(1_000_000)])
    encryptor = Cipher(algorithms.AES(bytes(range(32))), modes.CTR(bytes(range(16)))).encryptor()
    assert drawn.tobytes() == encryptor.update(bytes(1_000_000))


@pytest.mark.parametrize("pieces", [[1, 15, 16, 17, 100_000], [300_000, 0, 7]])
def test_pieces_continue_the_stream(pieces: list[int]) -> None:
    random = InsecureSeededRandom(3)
    joined = np.concatenate([random.words8(n) for n in pieces])
    assert (joined == InsecureSeededRandom(3).words8(sum(pieces))).all()


def test_wider_words_are_the_same_bytes() -> None:
    stream = InsecureSeededRandom(5).words8(24 * 8).tobytes()
    for name, width in [("words32", 4), ("words64", 8)]:
        words = getattr(InsecureSeededRandom(5), name)(24 * 8 // width)
        assert words.itemsize == width
        assert words.tobytes() == stream


def test_bytes_are_uniform() -> None:
    counts = np.bincount(SecureRandom().words8(1 << 21), minlength=256)
    assert_fits(counts, np.full(256, 1 / 256))


def test_words_are_writable_and_not_shared() -> None:
    random = SecureRandom()
    first = random.words64(100)
    kept = first.copy()
    random.words64(100)
    assert (first == kept).all()
    first[:] = 0


def test_instances_differ() -> None:
    assert (SecureRandom().words64(4) != SecureRandom().words64(4)).all()


def test_threads_differ() -> None:
    random, drawn = SecureRandom(), []
    threads = [threading.Thread(target=lambda: drawn.append(random.words64(4).tobytes())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(drawn)) == 4


FORK = """
import os
from rowspace.noise import SecureRandom
random = SecureRandom()
random.words64(1)
reader, writer = os.pipe()
pid = os.fork()
drawn = random.words64(4).tobytes().hex().encode()
if pid == 0:
    os.write(writer, drawn)
    os._exit(0)
os.waitpid(pid, 0)
print(drawn.decode(), os.read(reader, 1000).decode())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")
def test_fork_changes_the_stream() -> None:
    parent, child = run_python(FORK).split()
    assert len(parent) == len(child) == 64
    assert parent != child


@pytest.mark.parametrize("change", ["process id", "fork count"])
def test_either_sign_of_a_fork_changes_the_key(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random, keys = SecureRandom(), []
    monkeypatch.setattr(os, "urandom", lambda count: keys.append(count) or bytes(count))
    random.words8(1)
    random.words8(1)
    assert keys == [32, 16]
    if change == "process id":
        monkeypatch.setattr(os, "getpid", lambda: -1)
    else:
        monkeypatch.setattr(bits._ForkCount, "value", bits._ForkCount.value + 1)
    random.words8(1)
    assert keys == [32, 16, 32, 16]


def test_key_is_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bits, "_BYTES_PER_KEY", 100)
    random, keys = SecureRandom(), []
    monkeypatch.setattr(os, "urandom", lambda count: keys.append(count) or bytes(count))
    for _ in range(4):
        random.words8(50)
    assert keys == [32, 16, 32, 16]


def test_two_runs_never_share_noise() -> None:
    program = (
        "from fractions import Fraction; from rowspace.noise import *; "
        "print(discrete_laplace(Fraction(2**40), 4, SecureRandom()).tolist())"
    )
    assert run_python(program) != run_python(program)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_secure_random_cannot_be_copied(duplicate: object) -> None:
    with pytest.raises(TypeError, match="create a new one"):
        duplicate(SecureRandom())  # type: ignore[operator]


def test_secure_random_takes_no_seed() -> None:
    with pytest.raises(TypeError):
        SecureRandom(1)  # type: ignore[call-arg]


def test_seeds_differ_and_repeat() -> None:
    first, again, other = (InsecureSeededRandom(seed).words64(4).tobytes() for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize("seed", [1.0, "1", None, True])
def test_seed_is_an_integer(seed: object) -> None:
    with pytest.raises(InvalidInput, match="integer seed"):
        InsecureSeededRandom(seed)  # type: ignore[arg-type]
