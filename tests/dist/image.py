"""The image, as buildah reads it, in a root that cannot be written."""
import json
import re

from support import call_printed_lines, equal, free_port, process, run, wait_for

MAX_BYTES = 45_000_000
USER = "65532:65532"
# As a container engine does it: names of hosts come from outside, the root is read-only, /data is a volume.
START = """
set -e
mount --bind "$1" "$1"
for file in hosts resolv.conf; do touch "$1/etc/$file"; mount --bind "/etc/$file" "$1/etc/$file"; done
mount -o remount,bind,ro "$1"
mount -t tmpfs -o "mode=700,uid=${2%:*},gid=${2#*:}" tmpfs "$1/data"
root=$1 user=$2; shift 2
exec /usr/sbin/chroot --userspec="$user" "$root" "$@"
"""


def buildah(release, *arguments):
    storage = release.work / "buildah"
    return run("buildah", "--root", storage / "root", "--runroot", storage / "run", "--storage-driver", "vfs", *arguments).strip()


def inside(release, settings, *command):
    variables = [f"{name}={value}" for name, value in settings.items()]
    return ["env", "-i", *variables, "/usr/bin/unshare", "--mount", "/bin/sh", "-c", START, "sh", release.image_root, USER, *command]


def the_image_is_small(release):
    size = release.file("*-image.tar").stat().st_size
    assert size <= MAX_BYTES, size


def the_image_is_configured(release):
    archive = release.file("*-image.tar")
    container = buildah(release, "from", f"oci-archive:{archive}")
    config = json.loads(buildah(release, "inspect", container))["OCIv1"]["config"]
    equal((config["User"], config["StopSignal"], list(config["Volumes"])), (USER, "SIGTERM", ["/data"]))
    equal((config["Entrypoint"], config["Cmd"]), (["/usr/bin/civitas"], ["serve"]))
    manifest = json.loads(run("tar", "--extract", "--to-stdout", "--file", archive, "manifest.json"))[0]
    equal(manifest["RepoTags"], [f"civitas:{release.version}"])
    whole = json.loads(run("tar", "--extract", "--to-stdout", "--file", archive, manifest["Config"]))
    equal(whole["config"]["Healthcheck"]["Test"], ["CMD", "/usr/bin/civitas", "healthcheck"])
    release.image_root = buildah(release, "mount", container)
    release.image_environment = dict(line.split("=", 1) for line in config["Env"])


def the_image_has_its_libraries_certificates_and_time_zones(release):
    files = run("find", release.image_root, "-type", "f", "-printf", "%P\n").splitlines()
    for name in ["lib64/ld-linux-x86-64.so.2", "lib/libc.so.6", "etc/ssl/certs/ca-certificates.crt", "usr/share/zoneinfo/Europe/Paris"]:
        assert name in files, name
    assert not [name for name in files if re.search(r"(^|/)(sh|bash|dpkg|apt)$", name)], files


def the_demo_runs_in_a_root_that_cannot_be_written(release):
    log = release.work / "image.log"
    settings = {**release.image_environment, "CIVITAS_LISTEN": f"0.0.0.0:{free_port()}"}
    with process(*inside(release, settings, "/usr/bin/civitas", "demo"), log=log) as server:
        call_printed_lines(wait_for(log, "vote_proposals/sync", server))
        said = run(*inside(release, settings, "/usr/bin/civitas", "healthcheck"))
        assert said.endswith("answers 200 OK\n"), said


CHECKS = [the_image_is_configured, the_image_has_its_libraries_certificates_and_time_zones,
          the_demo_runs_in_a_root_that_cannot_be_written]
OF_COMPILED_BINARY = [the_image_is_small]
