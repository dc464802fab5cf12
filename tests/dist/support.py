"""What the checks share: the files of the release, roots of Debian, processes."""
import os
import re
import signal
import socket
import subprocess
import time
from contextlib import contextmanager
from functools import cached_property

TIMEOUT_SECONDS = 60


def run(*command, **options):
    """The output of a command, which must succeed."""
    done = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600,
                          check=True, **options)
    return done.stdout


def equal(found, expected):
    assert found == expected, f"{found!r}, expected {expected!r}"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Release:
    """The files that dist/build has written, and roots of Debian that are made once."""

    def __init__(self, folder, work):
        self.folder, self.work, self.roots = folder, work, {}

    def file(self, pattern):
        (path,) = self.folder.glob(pattern)
        return path

    @cached_property
    def version(self):
        return re.fullmatch(r"civitas-(.*)-x86_64-linux\.tar\.gz", self.file("*-x86_64-linux.tar.gz").name)[1]

    def unpacked(self, name):
        path = self.work / f"civitas-{self.version}-{name}"
        if not path.exists():
            run("tar", "--extract", "--file", self.folder / f"{path.name}.tar.gz", "--directory", self.work)
        return path

    @property
    def tarball(self):
        return self.unpacked("x86_64-linux")

    def root(self, suite, variant, *packages):
        """A new root of this Debian."""
        path = self.work / f"{suite}-{variant}"
        if path not in self.roots:
            self.roots[path] = run("mmdebstrap", "--quiet", f"--variant={variant}", f"--include={','.join(packages)}", suite, path)
        return path


@contextmanager
def process(*command, log, **options):
    """A process that is ended by SIGTERM, as a service manager does it, and must then succeed."""
    with open(log, "w") as output:
        started = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                   start_new_session=True, **options)
    try:
        yield started
        started.send_signal(signal.SIGTERM)
        equal(started.wait(TIMEOUT_SECONDS), 0)
    finally:
        if started.poll() is None:
            os.killpg(started.pid, signal.SIGKILL)
            started.wait()


def wait_for(log, text, started):
    """Waits until the log has this text; returns all of it."""
    end = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < end and started.poll() is None:
        if text in (said := log.read_text()):
            return said
        time.sleep(0.05)
    raise AssertionError(f"{text!r} is missing in:\n{log.read_text()}")


def call_printed_lines(greeting):
    """Pastes the three calls of `demo` into a shell: a token, a search, a vote."""
    lines = greeting[greeting.index("TOKEN="):].strip().splitlines()[:3]
    said = run("sh", "-c", "\n".join(lines))
    assert '"data":[' in said and '"type":"vote_proposals"' in said, said
