"""The tarball: sums, libraries, other Debians, manual, list of parts."""
import json
import re
import time
from pathlib import Path

from support import call_printed_lines, equal, free_port, process, run, wait_for

ROOT = Path(__file__).resolve().parents[2]
NEWEST_GLIBC = (2, 28)
# Each root has its libraries alone.
SUITES = ["bullseye", "bookworm", "trixie"]


def all_files_have_their_sums(release):
    run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=release.folder)
    named = {line.split()[1] for line in (release.folder / "SHA256SUMS").read_text().splitlines()}
    equal(named, {path.name for path in release.folder.iterdir() if not path.name.startswith("SHA256SUMS")})


def the_tarball_is_complete(release):
    top = release.tarball
    for name in ["LICENSE", "README.md", "LICENSES-OF-PARTS.txt", "civitas.example.toml", "man/civitas.1",
                 "completions/civitas.bash", "completions/civitas.zsh", "completions/civitas.fish", "systemd/civitas.service"]:
        assert (top / name).stat().st_size > 0, name
    equal((top / "civitas").stat().st_mode & 0o777, 0o755)
    parts = (top / "LICENSES-OF-PARTS.txt").read_text()
    assert "Mozilla Public" not in parts and re.search(r"^actix-web \S+: MIT OR Apache-2.0$", parts, re.M), parts[:500]


def every_command_has_a_page_of_the_manual(release):
    said = run(release.tarball / "civitas", "help")
    for command in re.findall(r"^  ([a-z-]+)  ", said.split("Commands:")[1].split("\n\n")[0], re.M):
        assert command == "help" or (release.tarball / f"man/civitas-{command}.1").exists(), command


def no_symbol_needs_a_newer_glibc(release):
    versions = re.findall(r"\(GLIBC_(\d+)\.(\d+)[.\d]*\)", run("objdump", "-T", release.tarball / "civitas"))
    newest = max((int(major), int(minor)) for major, minor in versions)
    assert newest <= NEWEST_GLIBC, newest


def the_binary_has_no_paths_of_its_build(release):
    data = (release.tarball / "civitas").read_bytes()
    for text in [b"/.cargo/registry", f"{ROOT}/".encode()]:
        assert text not in data, data[data.index(text) - 40:][:120]


def it_lists_its_parts_in_itself(release):
    assert ".dep-v0" in run("readelf", "--section-headers", "--wide", release.tarball / "civitas")


def it_starts_on_three_releases_of_debian(release):
    for suite in SUITES:
        root = release.root(suite, "extract", "libc6", "base-files")
        (root / "civitas").write_bytes((release.tarball / "civitas").read_bytes())
        (root / "civitas").chmod(0o755)
        said = run("chroot", root, "/civitas", "--version")
        assert re.fullmatch(rf"civitas {re.escape(release.version)} \([0-9a-f]{{10}} \d{{4}}-\d\d-\d\d\)\n", said), (suite, said)


def a_newcomer_has_voted_ten_seconds_after_unpacking(release):
    place, port, begun = release.work / "newcomer", free_port(), time.monotonic()
    place.mkdir()
    log = place / "log"
    with process(release.tarball / "civitas", "demo", "--listen", f"127.0.0.1:{port}", log=log, cwd=place) as demo:
        call_printed_lines(wait_for(log, "vote_proposals/sync", demo))
        assert time.monotonic() - begun < 10, time.monotonic() - begun


def the_lists_of_parts_are_valid(release):
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator
    for kind, part in [("", "pkg:cargo/actix-web@"), ("-image", "pkg:deb/debian/libc6@")]:
        text = release.file(f"civitas-{release.version}{kind}.cdx.json").read_text()
        equal(JsonStrictValidator(SchemaVersion.V1_6).validate_str(text), None)
        assert any(component["purl"].startswith(part) for component in json.loads(text)["components"]), part


CHECKS = [all_files_have_their_sums, the_tarball_is_complete, every_command_has_a_page_of_the_manual, the_lists_of_parts_are_valid]
# What dist/build compiles alone satisfies.
OF_COMPILED_BINARY = [no_symbol_needs_a_newer_glibc, the_binary_has_no_paths_of_its_build, it_lists_its_parts_in_itself,
                      it_starts_on_three_releases_of_debian, a_newcomer_has_voted_ten_seconds_after_unpacking]
