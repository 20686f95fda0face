"""A script that becomes a command in a network namespace of its own; it needs the standard library alone.

Usage: namespace.py FD, a Unix socket that has the command as its first message. From then on a second process
in the namespace answers each message with a TCP socket of it, until the other end of FD is closed. That is
the only way into the namespace, and nothing leads out of it.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import socket
import struct
import sys
from contextlib import suppress
from pathlib import Path

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000  # linux/sched.h
PR_CAPBSET_DROP = 24  # linux/prctl.h
CAP_SYS_PTRACE, CAP_SYS_ADMIN = 19, 21  # linux/capability.h
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 0x1  # linux/sockios.h, linux/if.h
MAX_MESSAGE = 1 << 16
REFUSAL_CODE = 71
"""Exit code where the machine gives no namespace; standard error has the reason."""


def main() -> None:
    """Enter the namespace, leave the second process there, and become the command."""
    way_in = socket.socket(fileno=int(sys.argv[1]))
    command = json.loads(way_in.recv(MAX_MESSAGE))
    try:
        enter()
        bring_loopback_up()
    except OSError as error:
        print(error, file=sys.stderr, flush=True)
        sys.exit(REFUSAL_CODE)
    # It is not a child of the command, which does not know it, but is in its session, and so ends with it.
    child = os.fork()
    if child == 0:
        if os.fork() == 0:
            give_sockets(way_in)
        os._exit(0)
    os.waitpid(child, 0)
    way_in.close()
    drop_capabilities()
    os.execvp(command[0], command)  # noqa: S606 - no shell, and the command is the caller's own


def enter() -> None:
    """Have a network namespace; without the right to one, in a user namespace in which this user has it.

    Raises:
        OSError: the kernel, or what the process runs in, does not allow it.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) == 0:
        return
    user, group = os.getuid(), os.getgid()
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"unshare: {os.strerror(number)}")
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        Path(f"/proc/self/{name}").write_text(text)


def drop_capabilities() -> None:
    """Take from the command what root needs to enter the machine's network again, or another process of it.

    Without them in the bounding set, execve grants them to no process (capabilities(7)). Only root has any.
    """
    libc = ctypes.CDLL(None)
    for capability in (CAP_SYS_PTRACE, CAP_SYS_ADMIN):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)


def bring_loopback_up() -> None:
    """Make 127.0.0.1 of the namespace work.

    Raises:
        OSError: a user namespace gives no rights here, as on Ubuntu from 24.04.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sH14x", b"lo", 0)
        name, flags = struct.unpack("16sH14x", fcntl.ioctl(any_socket, SIOCGIFFLAGS, request))
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", name, flags | IFF_UP))


def give_sockets(way_in: socket.socket) -> None:
    """Answer each message with a new TCP socket, which the receiver connects."""
    with suppress(OSError):  # the other end is gone: an error would be in Triton's log
        while way_in.recv(MAX_MESSAGE):
            with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as connection:
                socket.send_fds(way_in, [b"s"], [connection.fileno()])


if __name__ == "__main__":
    main()
