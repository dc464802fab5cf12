"""The sources of tests/decidim/run: databases of Decidim on the server of the tests, and the files of their attachments."""
import base64
import contextlib
import hashlib
import http.server
import json
import lzma
import os
import re
import secrets
import subprocess
import threading
import urllib.parse
from pathlib import Path

HERE = Path(__file__).resolve().parent
POSTGRES = os.environ.get("CIVITAS_TEST_POSTGRES", "")
PREFIX = f"decidim_tests_{os.getpid()}"
S3_KEY = "s3photokeyaaaaaaaaaaaaaaaa05"


def address(name, user=None, password=""):
    """That of a database of this run."""
    parts = urllib.parse.urlsplit(POSTGRES)._replace(path=f"/{PREFIX}_{name}")
    if user:
        place = parts.netloc.rpartition("@")[2]
        parts = parts._replace(netloc=f"{user}:{password}@{place}")
    return parts.geturl()


def psql(database, *arguments, **options):
    """Output of `psql`, without headings."""
    command = ["psql", "--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--set", "ON_ERROR_STOP=1", "--dbname", database]
    ran = subprocess.run([*command, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    if ran.returncode != 0:
        raise RuntimeError(f"psql {' '.join(map(str, arguments))}: {ran.stderr}")
    return ran.stdout


def rows(database, query):
    """The rows of a query, as objects."""
    return json.loads(psql(database, "--command", f"select coalesce(json_agg(q), '[]') from ({query}) q"))


class Sources:
    """Makes databases, and drops them and the reading role at the end."""

    def __init__(self):
        self.made = []
        self.reader, self.password = f"{PREFIX}_reader", secrets.token_hex(16)
        psql(POSTGRES, "--command", f"create role {self.reader} login password '{self.password}'")

    def empty(self, name):
        return self._create(name, "")

    def load(self, name, *files):
        """A new database with these files."""
        database = self._create(name, "")
        for file in files:
            if file.suffix == ".xz":
                psql(database, input=lzma.decompress(file.read_bytes()).decode())
            else:
                psql(database, "--file", file)
        return database

    def copy(self, name, of, *changes):
        """A copy of a database, with changes: files, or statements."""
        database = self._create(name, f" template {PREFIX}_{of}")
        for change in changes:
            psql(database, *(("--file", change) if isinstance(change, Path) else ("--command", change)))
        return database

    def as_reader(self, name):
        """The address of a database for a role that can only read its tables."""
        psql(address(name), "--command", f"grant select on all tables in schema public to {self.reader}")
        return address(name, self.reader, self.password)

    def drop(self, name):
        psql(POSTGRES, "--command", f"drop database if exists {PREFIX}_{name} with (force)")
        self.made.remove(name)

    def _create(self, name, options):
        psql(POSTGRES, "--command", f"create database {PREFIX}_{name}{options}")
        self.made.append(name)
        return address(name)

    def close(self):
        for name in list(self.made):
            self.drop(name)
        psql(POSTGRES, "--command", f"drop role {self.reader}")


def store(root, key, data):
    """Puts a file where a disk service of Active Storage has it."""
    file = root / key[:2] / key[2:4] / key
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)


def sample_files(root):
    """The files that the comments of sample-data.sql give. Returns the bytes by key; that of the object store too."""
    files = re.findall(r"^--   r1/../(\S+)\s+(\S+)$", (HERE / "sample-data.sql").read_text(), re.M)
    files = {key: base64.b64decode(text, validate=True) for key, text in files}
    for key, data in files.items():
        store(root, key, data)
    files[S3_KEY] = files["r1photopngkeyaaaaaaaaaaaa02"]
    return files


def jpeg(text):
    """A valid image of one grey pixel, with a text in a comment."""
    segment = lambda marker, data: b"\xff" + bytes([marker]) + (len(data) + 2).to_bytes(2, "big") + data
    # One code of one bit in each table: a difference of 0, and the end of the block.
    tables = segment(0xC4, bytes([0x00, 1, *[0] * 15, 0])) + segment(0xC4, bytes([0x10, 1, *[0] * 15, 0]))
    frame = segment(0xDB, bytes([0, *[1] * 64])) + segment(0xC0, bytes([8, 0, 1, 0, 1, 1, 1, 0x11, 0]))
    scan = segment(0xDA, bytes([1, 1, 0x00, 0, 63, 0])) + b"\x3f"
    return b"\xff\xd8" + segment(0xFE, text.encode()) + frame + tables + scan + b"\xff\xd9"


def pdf(text):
    return f"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%{text}\n%%EOF\n".encode()


def seeded_files(database, root):
    """Makes a small file for each attachment, and writes its size and checksum into the database. Returns the bytes by key."""
    blobs = rows(database, "select b.id, b.key, b.content_type from active_storage_blobs b join active_storage_attachments a"
                           " on a.blob_id = b.id and a.record_type = 'Decidim::Attachment' and a.name = 'file'")
    files, statements = {}, []
    for blob in blobs:
        data = {"image/jpeg": jpeg, "application/pdf": pdf}[blob["content_type"]](blob["key"])
        files[blob["key"]] = data
        store(root, blob["key"], data)
        checksum = base64.b64encode(hashlib.md5(data).digest()).decode()
        statements.append(f"update active_storage_blobs set byte_size = {len(data)}, checksum = '{checksum}' where id = {blob['id']};")
    psql(database, input="\n".join(statements))
    return files


@contextlib.contextmanager
def object_store(objects):
    """Serves objects of the bucket `riverton` as S3 does; signatures are not checked. Yields the address for `--files` and the
    environment."""
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            data = objects.get(urllib.parse.unquote(urllib.parse.urlsplit(self.path).path).removeprefix("/riverton/"))
            self.send_response(200 if data is not None else 404)
            self.send_header("Content-Length", str(len(data or b"")))
            if data is not None:
                self.send_header("ETag", f'"{hashlib.md5(data).hexdigest()}"')
                self.send_header("Last-Modified", "Sun, 02 Mar 2025 00:00:00 GMT")
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(data or b"")

        do_HEAD = do_GET

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listener:
        threading.Thread(target=listener.serve_forever, daemon=True).start()
        place = urllib.parse.quote(f"http://127.0.0.1:{listener.server_address[1]}", safe="")
        try:
            yield (f"s3://riverton?region=us-east-1&endpoint={place}",
                   {"AWS_ACCESS_KEY_ID": "tests", "AWS_SECRET_ACCESS_KEY": "tests-of-the-object-store"})
        finally:
            listener.shutdown()


@contextlib.contextmanager
def writes(database):
    """Changes four records in one transaction, again and again, until the end. Each transaction writes the next number."""
    script = "".join(
        f"begin; update decidim_proposals_proposals set title = '{{\"en\": \"Number {n}\"}}' where id in (1, 2);"
        f" update decidim_meetings_meetings set title = '{{\"en\": \"Number {n}\"}}' where id = 1;"
        f" insert into decidim_follows default values;"
        f" update decidim_blogs_posts set title = '{{\"en\": \"Number {n}\"}}' where id = 1; commit;\n" for n in range(100_000))
    command = ["psql", "--no-psqlrc", "--quiet", "--dbname", database]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True)

    def feed():
        with contextlib.suppress(OSError, ValueError):
            process.stdin.write(script)

    threading.Thread(target=feed, daemon=True).start()
    try:
        yield
    finally:
        process.kill()
        process.wait()


def digest(database):
    """A digest of everything in a database: of the data that pg_dump writes."""
    dump = subprocess.run(["pg_dump", "--no-owner", "--no-privileges", "--dbname", database], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE).stdout
    return hashlib.sha256(re.sub(rb"^\\(un)?restrict .*\n", b"", dump, flags=re.M)).hexdigest()
