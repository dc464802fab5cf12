"""Compose files, the Helm chart, the dashboard and the rules."""
import json
import re
import time
from urllib.request import urlopen

from support import TIMEOUT_SECONDS, call_printed_lines, equal, free_port, process, run, wait_for

KUBERNETES = "1.31"
# A variable of a compose file, and its default.
VARIABLE = re.compile(r"\$\{\w+:(?:-([^}]*)|\?)\}")
# An organization whose second host does not exist: its check is a task that runs at once.
CHECKED = {"type": "organization", "ref": "checked", "host": "checked.example", "unconfirmed_host": "unknown.example",
           "name": {"en": "Checked"}, "available_locales": ["en"], "default_locale": "en"}
MANY = {"replicas": 3, "databaseUrl": "postgres://u:p@db/civitas", "secretKey": "k", "settings": {"CIVITAS_FILES_URL": "s3://b/p"}}
# Values, and the kinds that they give.
CHARTS = [
    ({}, ["Deployment", "PersistentVolumeClaim", "Secret", "Service"]),
    ({"persistence": {"enabled": False}}, ["Deployment", "Secret", "Service"]),
    ({"existingSecret": "mine"}, ["Deployment", "PersistentVolumeClaim", "Service"]),
    (MANY, ["Deployment", "PodDisruptionBudget", "Secret", "Service"]),
]
REFUSED = [{"replicas": 2}, {**MANY, "secretKey": ""}, {**MANY, "settings": {}}, {"databaseUrl": "sqlite://x"}, {"unknown": 1}]


def the_compose_files_are_valid(release):
    from compose_spec import PyCompose
    import yaml
    for name in ["sqlite.yaml", "postgres.yaml"]:
        # Variables get their default or some value; `from_yaml` knows no merge keys.
        text = VARIABLE.sub(lambda found: found[1] or "value", (release.unpacked("deploy") / "compose" / name).read_text())
        PyCompose.from_json(json.dumps(yaml.safe_load(text))).validate()
        services = yaml.safe_load(text)["services"]
        equal(services["civitas"]["image"], f"civitas:{release.version}")
        equal((services["migrate"]["command"], services["civitas"]["read_only"]), (["migrate"], True))


def the_chart_gives_valid_objects(release):
    from helm_python.chart import Chart, lint
    import kubernetes_validate
    import yaml
    archive = release.file("*-helm.tgz")
    run("tar", "--extract", "--file", archive, "--directory", release.work)
    equal(lint(str(release.work / "civitas"))["errors"], [])
    chart = Chart.load(archive)
    for values, kinds in CHARTS:
        texts = chart.render(values, name="city", namespace="default").values()
        objects = [found for text in texts for found in yaml.safe_load_all(text) if found]
        for found in objects:
            kubernetes_validate.validate(found, KUBERNETES, strict=True)
        equal(sorted(found["kind"] for found in objects), kinds)
        (deployment,) = [found for found in objects if found["kind"] == "Deployment"]
        equal(deployment["spec"]["template"]["spec"]["containers"][0]["image"], f"civitas:{release.version}")


def the_chart_refuses_what_cannot_work(release):
    from helm_python.chart import Chart
    from helm_python.errors import HelmError
    chart = Chart.load(release.file("*-helm.tgz"))
    for values in REFUSED:
        try:
            chart.render(values, name="city")
        except HelmError:
            continue
        raise AssertionError(f"{values} was rendered")


def the_rules_are_valid(release):
    folder = release.unpacked("deploy") / "observability"
    run("promtool", "check", "rules", folder / "rules.yaml")
    run("promtool", "check", "config", folder / "scrape.yaml")


def every_metric_of_dashboard_and_rules_exists(release):
    folder, port, operations = release.unpacked("deploy") / "observability", free_port(), free_port()
    rows = [panel for panel in json.loads((folder / "dashboard.json").read_text())["panels"] if panel["type"] != "row"]
    texts = [target["expr"] for panel in rows for target in panel["targets"]] + [(folder / "rules.yaml").read_text()]
    named = {name for text in texts for name in re.findall(r"\bcivitas_[a-z_]+", text)}
    place, archive = release.work / "metrics", release.work / "checked.ndjson"
    place.mkdir()
    archive.write_text(json.dumps(CHECKED))
    log, settings = place / "log", ["--listen", f"127.0.0.1:{port}", "--operations-listen", f"127.0.0.1:{operations}"]
    with process(release.tarball / "civitas", "demo", *settings, log=log, cwd=place) as demo:
        call_printed_lines(wait_for(log, "vote_proposals/sync", demo))
        run(release.tarball / "civitas", "import", "--quiet", archive, cwd=place)
        end, missing = time.monotonic() + TIMEOUT_SECONDS, named
        while missing and time.monotonic() < end:
            text = urlopen(f"http://127.0.0.1:{operations}/metrics").read().decode()
            missing = named - set(re.findall(r"^(civitas_[a-z_]+)[ {]", text, re.M))
            time.sleep(0.5)
        equal(missing, set())


CHECKS = [the_compose_files_are_valid, the_chart_gives_valid_objects, the_chart_refuses_what_cannot_work, the_rules_are_valid,
          every_metric_of_dashboard_and_rules_exists]
