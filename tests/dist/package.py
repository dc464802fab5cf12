"""The package in a clean Debian 12: installation, the unit's commands as its user, upgrade, removal, purge."""
import re
import shlex

from support import call_printed_lines, equal, free_port, process, run, wait_for

MOST_EXPOSED = 2.0
CONFIGURATION = "etc/civitas/civitas.toml"


def debian(release):
    return release.root("bookworm", "minbase", "adduser", "ca-certificates")


def dpkg(release, *arguments):
    return run("chroot", debian(release), "env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8", "dpkg", *arguments)


def as_user(release, *command):
    """A command with the user, directory and capabilities of the unit; its other limits need systemd."""
    return ["chroot", debian(release), "setpriv", "--reuid=civitas", "--regid=civitas", "--clear-groups", "--no-new-privs",
            "--bounding-set=-all", "--inh-caps=-all", "env", "--chdir=/var/lib/civitas", *command]


def install(release):
    (debian(release) / "civitas.deb").write_bytes(release.file("*.deb").read_bytes())
    dpkg(release, "--install", "/civitas.deb")


def mode_and_owner(release, path):
    return run("chroot", debian(release), "stat", "--format=%a %U:%G", f"/{path}").strip()


def lintian_finds_no_error(release):
    run("lintian", "--allow-root", "--fail-on", "error", "--tag-display-limit", "0", release.file("*.deb"))


def the_units_are_hardened(release):
    for unit in ["civitas.service", "civitas-backup.service"]:
        said = run("systemd-analyze", "security", "--offline=true", release.tarball / "systemd" / unit)
        exposed = float(re.search(r"exposure level for \S+: ([\d.]+)", said)[1])
        assert exposed <= MOST_EXPOSED, f"{unit}: {exposed}"


def the_package_is_installed_with_its_user(release):
    install(release)
    equal(mode_and_owner(release, CONFIGURATION), "640 root:civitas")
    equal(mode_and_owner(release, "var/lib/civitas"), "700 civitas:civitas")
    equal(mode_and_owner(release, "usr/bin/civitas"), "755 root:root")
    shell = run("chroot", debian(release), "getent", "passwd", "civitas").strip().split(":")[5:]
    equal(shell, ["/var/lib/civitas", "/usr/sbin/nologin"])
    assert (debian(release) / "etc/systemd/system/multi-user.target.wants/civitas.service").is_symlink()
    assert not (debian(release) / "etc/systemd/system/timers.target.wants/civitas-backup.timer").is_symlink()
    equal(dpkg(release, "--verify", "civitas"), "")


def the_commands_of_the_unit_run_as_its_user(release):
    unit = (debian(release) / "lib/systemd/system/civitas.service").read_text()
    before, serve = (shlex.split(re.search(rf"^{name}=(.*)$", unit, re.M)[1]) for name in ["ExecStartPre", "ExecStart"])
    run(*as_user(release, *before))
    listen, log = f"127.0.0.1:{free_port()}", release.work / "serve.log"
    with process(*as_user(release, *serve, "--listen", listen), log=log) as server:
        assert "this link creates the first one" in wait_for(log, "listening", server)
        said = run(*as_user(release, "civitas", "healthcheck", "--listen", listen))
        assert said.endswith("answers 200 OK\n"), said
    equal(mode_and_owner(release, "var/lib/civitas/civitas.db"), "600 civitas:civitas")


def the_demo_runs_as_its_user(release):
    listen, log = f"127.0.0.1:{free_port()}", release.work / "demo.log"
    demo = as_user(release, "civitas", "demo", "--data-dir", "/var/lib/civitas/demo", "--listen", listen)
    with process(*demo, log=log) as server:
        call_printed_lines(wait_for(log, "vote_proposals/sync", server))


def a_backup_is_made_as_the_unit_does(release):
    unit = (debian(release) / "lib/systemd/system/civitas-backup.service").read_text()
    command = shlex.split(re.search(r"^ExecStart=(.*)$", unit, re.M)[1])
    run(*as_user(release, "env", "CIVITAS_BACKUP_TO=file:///var/lib/civitas/backups", *command))
    run(*as_user(release, "civitas", "restore", "/var/lib/civitas/backups", "--check", "--data-dir", "/var/lib/civitas"))


def an_upgrade_keeps_configuration_and_data(release):
    path = debian(release) / CONFIGURATION
    path.write_text(path.read_text() + '\nlog = "warn"\n')
    install(release)
    assert path.read_text().endswith('log = "warn"\n')
    equal(mode_and_owner(release, CONFIGURATION), "640 root:civitas")
    assert (debian(release) / "var/lib/civitas/civitas.db").exists()


def removal_keeps_data_and_purge_leaves_nothing(release):
    dpkg(release, "--remove", "civitas")
    assert (debian(release) / "var/lib/civitas/civitas.db").exists() and (debian(release) / CONFIGURATION).exists()
    assert not (debian(release) / "usr/bin/civitas").exists()
    dpkg(release, "--purge", "civitas")
    (debian(release) / "civitas.deb").unlink()
    equal(run("find", debian(release), "-xdev", "-name", "*civitas*"), "")
    for name in ["passwd", "group"]:
        assert "civitas" not in (debian(release) / "etc" / name).read_text(), name


CHECKS = [lintian_finds_no_error, the_units_are_hardened, the_package_is_installed_with_its_user,
          the_commands_of_the_unit_run_as_its_user, the_demo_runs_as_its_user, a_backup_is_made_as_the_unit_does,
          an_upgrade_keeps_configuration_and_data, removal_keeps_data_and_purge_leaves_nothing]
