"""A way to a PostgreSQL server that is cut: at a commit, before the server hears of it or can answer, or when told."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NAME = ".s.PGSQL.5432"


class Way:
    """Passes bytes on between clients and a server; cuts the connection that commits a charge, once.

    after: whether the server hears of that commit. None: there is no cut but by `cut`.
    """

    def __init__(self, folder: Path, server: Path, *, after: bool | None = None) -> None:
        self._server, self._after = server / NAME, after
        self.cuts = 0
        self._listener = socket.socket(socket.AF_UNIX)
        self._open: set[tuple[socket.socket, socket.socket]] = set()
        self._listener.bind(str(folder / NAME))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Let nobody in any more."""
        self.cut()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def cut(self) -> int:
        """Cut every connection there is, wherever it stands; how many that were."""
        pairs = list(self._open)
        self._open.clear()
        for one in (one for pair in pairs for one in pair):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        return len(pairs)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                try:
                    server.connect(str(self._server))
                except OSError:  # it is away
                    client.close()
                    server.close()
                    continue
                self._open.add((client, server))
                threading.Thread(target=self._pass_back, args=(server, client), daemon=True).start()
                threading.Thread(target=self._pass_on, args=(client, server), daemon=True).start()

    def _pass_on(self, client: socket.socket, server: socket.socket) -> None:
        charged = False
        with client:  # who reads of a socket closes it
            with contextlib.suppress(OSError):
                while sent := client.recv(65536):
                    charged |= b"INSERT INTO rowspace_charge" in sent
                    if self._after is not None and charged and not self.cuts and b"COMMIT" in sent:
                        self.cuts += 1
                        client.shutdown(socket.SHUT_RDWR)
                        if not self._after:
                            break
                    server.sendall(sent)
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)

    def _pass_back(self, server: socket.socket, client: socket.socket) -> None:
        with server:
            with contextlib.suppress(OSError):
                while sent := server.recv(65536):
                    client.sendall(sent)
            self._open.discard((client, server))
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)


@contextmanager
def cut_at_commit(folder: Path, server: Path, *, after: bool) -> Iterator[Way]:
    """A way to the server below a folder, which is where `host=` has to point."""
    way = Way(folder, server, after=after)
    try:
        yield way
    finally:
        way.close()
