"""The checks of tests/decidim/run that use sample-data.sql."""
import base64
import concurrent.futures
import json
import random
import re
import signal
import statistics
import time
import urllib.parse

import source
import target

RIVERTON, VALMORA = "riverton.example.test", "valmora.example.test"
SCHEMA, DATA = source.HERE / "schema-subset.sql", source.HERE / "sample-data.sql"
# The records of the base run: check 4. The sample's file of the object store is one of the attachments.
WRITTEN = {
    "system_admin": 2, "organization": 2, "user": 19, "api_client": 4, "webhook_registration": 1, "space": 13, "step": 4,
    "role": 10, "component": 16, "proposal_state": 8, "proposal": 20, "vote": 6, "meeting": 8, "post": 8, "survey": 3,
    "questionnaire": 4, "question": 12, "answer_option": 12, "display_condition": 5, "questionnaire_response": 5,
    "attachment_collection": 2, "attachment": 5, "page": 1, "budget": 2, "result": 1, "debate": 2,
}
# How often each code occurs whose comments leave no doubt.
COUNTS = {
    "W-ACCOUNT": 1, "W-NICKNAME": 2, "W-PASSWORD": 1, "W-USERROLE": 1, "W-OAUTHAPP": 1, "W-CLIENT": 1, "W-ABILITY": 2,
    "W-SECRET": 1, "W-WEBHOOK": 1, "W-DELETEDSPACE": 1, "W-MANIFEST": 1, "W-COLLABORATOR": 2,
    "W-PERMISSION": 1, "W-DRAFT": 2, "W-TEMPORARY": 1, "W-NOTIME": 1, "W-WAITING": 1, "W-FORM": 3,
    "W-QUESTION": 1, "W-CONDITION": 1, "W-RESPONSE": 1, "W-FREETEXT": 1, "W-FILERULE": 1, "W-PARENT": 1, "W-TENANT": 2,
}
# Tables of the module rest_full, and of those beside it.
MODULE = ["webhooks_tables", "decidim_rest_full_api_client_permissions", "decidim_rest_full_user_magic_tokens",
          "decidim_rest_full_api_jobs", "resource_extended_data", "proposal_application_ids"]
CLIENT_2 = {"client": "k5Yb2mJ0nq7XwV1cT8sRzA4eLp9uHgD3", "secret": "Q3mZ8wR1yT6uN0pL4kJ7hG2fD5sA9xC-bV_e1iO"}
PASSWORD = "decidim-Riverton-2026"


def comment_codes():
    """The codes that the comments of the sample name."""
    return set(re.findall(r"W-[A-Z]+", DATA.read_text()))


def listed(errors):
    """The codes of the lines of a run that stopped, and their counts; stops have none."""
    losses = {code: int(count) for code, count in re.findall(r"^(W-[A-Z]+): .*?: (\d+) \(", errors, re.M)}
    return re.findall(r"^(S-[A-Z]+): ", errors, re.M), losses


def comparable(records):
    """Records without what an import computes anew where the source has no value."""
    untimed = {"proposal_state", "answer_option", "display_condition", "attachment_collection", "question", "step"}
    result = {}
    for key, record in records.items():
        drop = {"created_at", "updated_at"} if record["type"] in untimed else set()
        # Questionnaire 2 of the sample has no salt; the import generates one.
        if key == ("questionnaire", "2"):
            drop.add("salt")
        result[key] = {name: value for name, value in record.items() if name not in drop}
    return result


def difference(left, right):
    """The first differences between two exports, as text; empty where there are none."""
    lines = []
    for key in sorted(left.keys() | right.keys()):
        one, other = left.get(key), right.get(key)
        if one != other:
            names = [name for name in (one or {}).keys() | (other or {}).keys() if (one or {}).get(name) != (other or {}).get(name)]
            lines.append(f"{key}: " + ", ".join(f"{n}: {(one or {}).get(n)!r} / {(other or {}).get(n)!r}"[:200] for n in sorted(names)))
    return "\n       ".join(lines[:8])


def same(world, number, sentence, left, right):
    found = difference(left, right)
    return world.check(number, sentence, not found, found)


def written(report):
    """The records written, by type, of all organizations."""
    sums = {}
    for types in report.get("organizations", {}).values():
        for kind, tally in types.items():
            if tally["written"]:
                sums[kind] = sums.get(kind, 0) + tally["written"]
    return sums


def wanted(world):
    """The records that the base run writes."""
    return {**WRITTEN, "attachment": WRITTEN["attachment"] - (not world.s3)}


def counted(world, number, sentence, report, **changes):
    found, expected = written(report), {**wanted(world), **changes}
    wrong = {kind: (found.get(kind, 0), count) for kind, count in expected.items() if found.get(kind, 0) != count}
    return world.check(number, sentence, not wrong, f"found, wanted: {wrong}")


def loading(world):
    world.sources.load("sample", SCHEMA, DATA)
    world.check(1, "schema-subset.sql and sample-data.sql load into an empty database", True)


def plans(world):
    """A plan that stops changes nothing."""
    database, reader = source.address("sample"), world.sources.as_reader("sample")
    place = world.target("sqlite")
    before, empty = source.digest(database), place.export()
    code, _, errors = place.call("import-decidim", "--dry-run", environment={"CIVITAS_DECIDIM_URL": reader})
    stops, losses = listed(errors)
    world.equal(2, "a dry run without options ends with 1", code, 1)
    world.check(2, "its stops are S-LOCALE, S-FILES for local and s3, S-JOBS",
                sorted(stops) == ["S-FILES", "S-FILES", "S-JOBS", "S-LOCALE"], errors)
    missing = comment_codes() - losses.keys()
    world.check(2, "it lists every code of the comments", not missing, f"missing: {missing}")
    world.check(2, "source and target stay as they are", source.digest(database) == before and place.export() == empty)
    ran = world.run(place, reader, *world.base(accept=""))
    stops, losses = listed(ran.errors)
    world.check(3, "without --accept the run ends with 1, and has no other stops", ran.code == 1 and not stops, ran.errors)
    missing = comment_codes() - losses.keys()
    world.check(3, "it lists every code of the comments", not missing, f"missing: {missing}")
    wrong = {code: (losses.get(code), count) for code, count in COUNTS.items() if losses.get(code) != count}
    world.check(3, "each with its count", not wrong, f"found, wanted: {wrong}")
    world.check(3, "nothing is stored", place.export() == empty)
    named = {line.partition(":")[0] for line in ran.report.get("failure", [])}
    world.check(3, "the report names the same codes", named == losses.keys(), named ^ losses.keys())


def imports(world):
    """The base run by all ways. Returns the deployments of both engines with their runs."""
    reader = source.address("sample", world.sources.reader, world.sources.password)
    made = {engine: world.imported(engine, reader) for engine in ("sqlite", "postgres")}
    exports = {engine: place.export("--with-secrets") for engine, (place, _) in made.items()}
    for engine, (place, ran) in made.items():
        counted(world, 4, f"{engine}: the records are those of the sample", ran.report)
        records = exports[engine]
        registered = sum(len(record.get("registrations", [])) for record in records.values() if record["type"] == "meeting")
        rows = sum(len(record.get("matrix_rows", [])) for record in records.values() if record["type"] == "question")
        answers = json.dumps(records.get(("questionnaire_response", "1"), {}))
        world.equal(4, f"{engine}: 3 registrations, 3 matrix rows, 1 file of a response",
                    (registered, rows, answers.count('"filename"')), (3, 3, 1))
    for engine, (place, _) in made.items():
        again = world.run(place, reader, *world.base())
        changes = changed(again)
        world.check(5, f"{engine}: the same import again changes nothing", again.code == 0 and not changes,
                    f"{again.code} {changes} {again.errors}")
        same(world, 5, f"{engine}: the records are equal", comparable(exports[engine]), comparable(place.export("--with-secrets")))
    archive = world.target("sqlite")
    file = archive.directory / "city.ndjson"
    ran = world.run(archive, reader, *world.base(), "--output", file)
    world.check(6, "an archive is written", ran.code == 0 and file.exists(), ran.errors)
    if ran.code == 0:
        modes = {path.name: oct(path.stat().st_mode & 0o777) for path in (file, archive.directory / "residue.ndjson")}
        world.check(6, "archive and residue can be read by their owner only", set(modes.values()) == {"0o600"}, modes)
        code, _, errors = archive.call("import", "--keep-ids", "--allow-operators", "--quiet", file)
        world.check(6, "civitas import --keep-ids reads it", code == 0, errors)
        same(world, 6, "archive and direct import give the same", comparable(exports["sqlite"]),
             comparable(archive.export("--with-secrets")))
    same(world, 6, "SQLite and PostgreSQL give the same", comparable(exports["sqlite"]), comparable(exports["postgres"]))
    return made


def changed(ran):
    """What a run created and updated."""
    done = ran.report.get("target") or {}
    return {name: done.get(name, "no report") for name in ("created", "updated") if done.get(name, "no report")}


def sources_of_other_shapes(world, made):
    """Versions, modules and marks."""
    files = [source.HERE / f"shape-{version}.sql" for version in ("0.31", "0.30", "0.29")]
    base = comparable(made["sqlite"][0].export()) if made else {}
    # What these versions say otherwise: assembly 4 was opened after 0.31, which has no transparent processes; 0.30 has scopes.
    otherwise = {("space", "assemblies/4"): ["visibility"], ("space", "participatory_processes/4"): ["visibility"], ("component", "2"): ["scope_id", "settings"],
                 ("component", "8"): ["settings"]}

    def alike(records):
        return {key: {n: v for n, v in record.items() if n not in otherwise.get(key, [])} for key, record in records.items()}

    for number, version in enumerate(("0.31", "0.30", "0.29"), 1):
        database = world.sources.copy("shape", "sample", *files[:number])
        try:
            place, ran = world.imported("sqlite", database)
            world.equal(9, f"the shape of {version} is recognised", ran.report.get("source", {}).get("decidim"), version)
            if version == "0.29":
                # No bin: these are gone, and what was in them.
                fewer = {"component": 15, "proposal": 19, "meeting": 7, "post": 7, "survey": 2, "questionnaire": 3, "budget": 1}
                counted(world, 9, "0.29: the records are those of the sample", ran.report, **fewer)
            else:
                same(world, 9, f"{version}: the records are the same", alike(base), alike(comparable(place.export())))
        finally:
            world.sources.drop("shape")
    wrong = {
        "newer": ["create table decidim_participatory_process_phases (id int)"],
        "with binned attachments": ["alter table decidim_attachments add deleted_at timestamp"],
        "with members, but no access mode": ["alter table decidim_assemblies drop access_mode"],
        "with both names of answers": ["create table decidim_forms_answers (id int)"],
        "older": ["drop table decidim_proposals_proposal_states"],
    }
    for name, changes in wrong.items():
        database = world.sources.copy("shape", "sample", *changes)
        ran = world.run(world.target("sqlite"), database, *world.base())
        world.check(9, f"a database {name}: S-VERSION", ran.code == 1 and "S-VERSION" in ran.errors, ran.errors)
        world.sources.drop("shape")
    variants = {
        (10, "schema_migrations emptied"): ["delete from schema_migrations"],
        (10, "schema_migrations with other numbers"): [
            "insert into schema_migrations select (20200101000000 + n)::text from generate_series(1, 50) n"],
    }
    for (number, name), changes in variants.items():
        database = world.sources.copy("shape", "sample", *changes)
        place, _ = world.imported("sqlite", database)
        same(world, number, f"{name}: the same records", base, comparable(place.export()))
        world.sources.drop("shape")
    database = world.sources.copy("shape", "sample", *(f"drop table {table} cascade" for table in MODULE))
    place, ran = world.imported("sqlite", database)
    records = comparable(place.export())
    kinds = {record["type"] for record in records.values()}
    world.check(11, "without the module there are no clients and webhooks", not kinds & {"api_client", "webhook_registration"},
                kinds)
    # What the module adds to other records.
    plain = lambda of: {key: {n: v for n, v in record.items() if n not in ("extended_data", "api_client", "unconfirmed_host")}
                        for key, record in of.items() if key[0] not in ("api_client", "webhook_registration", "proposal")}
    same(world, 11, "all else is the same", plain(base), plain(records))
    world.sources.drop("shape")
    database = world.sources.copy(
        "shape", "sample", "update decidim_users set name = E'Tab\\tName' where id = 4",
        "update decidim_organizations set external_domain_allowlist = '{wikipedia.org,*.example.org}' where id = 1",
        "update webhooks_tables set url = 'http://10.0.0.5/hook' where id = (select min(id) from webhooks_tables where url like 'http%')")
    place, ran = world.imported("sqlite", database)
    records = place.export()
    found = (records.get(("user", "4"), {}).get("name"), records.get(("organization", "1"), {}).get("external_domain_allowlist"))
    world.equal(20, "what the interface would refuse does not end the import", (ran.code, *found), (0, "Tab Name", ["wikipedia.org"]))
    world.sources.drop("shape")
    database = world.sources.copy("shape", "sample", "delete from data_migrations")
    place, _ = world.imported("sqlite", database)
    seen = visibility(place.export())
    closed = {"assemblies/4": "private", "participatory_processes/2": "private", "assemblies/3": "private"}
    opened = [ref for ref, found in seen.items() if found == "public" and visibility(base).get(ref) != "public"]
    world.check(12, "without data_migrations assembly 4 is private, none opens",
                closed.items() <= seen.items() and not opened, f"{seen} {opened}")
    world.sources.drop("shape")


def visibility(records):
    return {ref: record.get("visibility", "public") for (kind, ref), record in records.items() if kind == "space"}


def without_new_ids(records):
    """Records of which some are known by what they say: their ids are not of the source, and depend on what was undone."""
    result = {}
    for (kind, ref), record in records.items():
        if kind in ("proposal_state", "questionnaire_response", "role"):
            record = {name: value for name, value in record.items() if name != "ref"}
            ref = json.dumps(record, sort_keys=True)
        result[kind, ref] = record
    return result


def interruptions(world, made):
    """Kills an import at ten moments, and runs it again."""
    reader = source.address("sample", world.sources.reader, world.sources.password)
    for engine in ("sqlite", "postgres"):
        if not made:
            return
        base = comparable(made[engine][0].export())
        place = world.target(engine)
        start = time.monotonic()
        trial = world.target(engine)
        world.run(trial, reader, *world.base())
        seconds = time.monotonic() - start
        half, killed = [], 0
        for moment in range(10):
            process = place.start("import-decidim", reader, *world.base(), environment=world.aws)
            # The first ones early: an import that ends leaves nothing to interrupt.
            time.sleep(seconds * (moment + random.random()) / 10)
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                killed += 1
            process.communicate()
            organizations = place.query("select id from organizations")
            people = place.query("select count(*) from users")[0][0]
            if organizations and people != "19":
                half.append(f"{organizations} {people}")
        world.check(34, f"{engine}: killed {killed} times of 10, no half import was ever stored", not half, half)
        again = world.run(place, reader, *world.base())
        world.check(34, f"{engine}: the import after them ends", again.code == 0, again.errors)
        same(world, 34, f"{engine}: its records are those of an undisturbed one", without_new_ids(base),
             without_new_ids(comparable(place.export())))
        left = [path.name for path in (place.directory / "data").glob("import-decidim-*")]
        world.check(34, f"{engine}: no archive of a killed import is left", not left, left)


# A row that is not stored as it is written: a vote with the weight 3.
ALTERING = {
    "sqlite": "create trigger altered after insert on votes when new.weight = 3"
              " begin update votes set weight = 2 where id = new.id; end",
    "postgres": "create function altered() returns trigger language plpgsql as $$ begin new.weight := 2; return new; end $$;"
                " create trigger altered before insert on votes for each row when (new.weight = 3) execute function altered()",
}


def verification(world):
    """Check 37, and what a failed import reports."""
    reader = source.address("sample", world.sources.reader, world.sources.password)
    for engine, statement in ALTERING.items():
        place = world.target(engine)
        before = place.export()
        place.query(statement)
        ran = world.run(place, reader, *world.base())
        reason = 'vote "1": the row is not as the record says'
        world.check(37, f"{engine}: a row that differs from its record ends the import", ran.code == 1 and reason in ran.errors, ran.errors)
        world.check(37, f"{engine}: nothing is stored", place.export() == before)
        failure = ran.report.get("failure", [])
        world.check(37, f"{engine}: the report names the failure", written(ran.report) and reason in "".join(failure), failure)


def long_texts(world, made):
    """Texts that are too long here."""
    if not made:
        return
    database = world.sources.copy("long", "sample", "update decidim_proposals_proposals set title ="
                                  " jsonb_build_object('en', repeat('é', 300)) where id = 1")
    place, ran = world.imported("sqlite", database)
    title = place.export()[("proposal", "1")]["title"]
    world.equal("long", "a title is cut after 255 characters", title, {"en": "é" * 255})
    counts = [one.report["codes"].get("W-JSON", {}).get("count", 0) for one in (made["sqlite"][1], ran)]
    world.check("long", "W-JSON counts it", counts[1] == counts[0] + 1, counts)
    whole = [line for line in ran.residue if (line["table"], line["id"]) == ("proposal", "1")]
    world.check("long", "the residue has the whole title", [line["row"].get("title") for line in whole] == [["é" * 300]], whole)
    world.sources.drop("long")


def snapshots(world):
    """Writes to the source while it is read."""
    database = world.sources.copy("busy", "sample")
    reader = world.sources.as_reader("busy")
    place = world.target("sqlite")
    most, numbers = 0, set()
    with source.writes(database):
        time.sleep(0.5)
        process = place.start("import-decidim", reader, *world.base(), environment=world.aws)
        while process.poll() is None:
            count = source.rows(database, f"select count(*) as n from pg_stat_activity where usename = '{world.sources.reader}'")
            most = max(most, count[0]["n"])
            time.sleep(0.02)
        errors = process.communicate()[1]
    world.check(35, "the import ends while the source is changed", process.returncode == 0, errors)
    records = place.export()
    for key in (("proposal", "1"), ("proposal", "2"), ("meeting", "1"), ("post", "1")):
        numbers.add(records.get(key, {}).get("title", {}).get("en"))
    world.check(35, "its records are those of one moment", len(numbers) == 1 and None not in numbers, numbers)
    world.equal(35, "it has one connection, of a role that can only read", most, 1)
    world.sources.drop("busy")


def served(world, place, ran):
    """The answers of a served import."""
    before = place.export("--with-secrets")
    place.add_client(1)
    place.add_client(2, "tests-valmora")
    with place.serving():
        city, valmora = target.Api(place.port, RIVERTON), target.Api(place.port, VALMORA)
        for checks in (identifiers, people, clients, texts, settings, proposals, meetings, forms, files, roles, extended_data):
            try:
                checks(world, place, city, valmora, before, ran)
            except Exception as error:
                world.check("-", f"{checks.__name__.replace('_', ' ')}: the checks end", False, f"{type(error).__name__}: {error}")
        found = [answer[:200] for answer in city.seen + valmora.seen if "machine_translations" in answer]
        world.check(20, "no answer contains machine_translations", not found, found)
    residue(world, before, ran)
    logins(world, place, before)
    new_records(world, place, before)


def identifiers(world, place, city, valmora, before, ran):
    shows = {"user 17": ("users?filter[id_eq]=17", city), "proposal 101": ("proposals/101", valmora), "vote 6": ("vote_proposals/6", city),
             "process 1": ("spaces/participatory_processes/1", city), "assembly 1": ("spaces/assemblies/1", city),
             "questionnaire 3": ("questionnaires/3", city), "question 12": ("questions/12", city),
             "response 7": ("questionnaire_responses/7", city), "attachment 7": ("attachments/7", city)}
    if world.s3:
        shows["attachment 9"] = ("attachments/9", city)
    for name, (path, api) in shows.items():
        options = {"client": "tests-valmora"} if api is valmora else {}
        data = api.data(path, **options)
        data = data[0] if isinstance(data, list) and data else data
        world.check(7, f"{name} has its id", (data or {}).get("id") == name.split()[-1], data)
    world.check(7, "state 4 has its id", city.data("proposals/10").get("relationships", {}).get("state", {}).get("data", {}).get("id") == "4")


def people(world, place, city, valmora, before, ran):
    users = {ref: record for (kind, ref), record in before.items() if kind == "user"}
    names = [users[ref]["nickname"] for ref in ("2", "3", "17")]
    world.check(13, "2 is bob, 3 another, 17 odd_nick", names[0] == "bob" and names[1].lower() != "bob" and names[2] == "odd_nick", names)
    emails = [users[ref]["email"] for ref in ("8", "9", "10", "16")]
    all_emails = [user["email"].lower() for user in users.values() if user["organization"] == "1"]
    world.check(13, "the addresses of 8, 9, 10, 16 are unique and undeliverable", len(set(all_emails)) == len(all_emails)
                and all(email.endswith("example.org") for email in emails), emails)
    examples = {(str(e.get("id")), e.get("from"), e.get("to")) for e in ran.report["codes"].get("W-NICKNAME", {}).get("examples", [])}
    world.check(13, "the report names old and new", {("3", "Bob", names[1]), ("17", "odd.nick", "odd_nick")} <= examples, examples)
    status, _ = city.login("graph_bot", PASSWORD)
    world.check(14, "account 13 does not exist, and its password opens nothing", "13" not in users and status == 400, status)
    admins = sorted((ref for ref, user in users.items() if user.get("admin")), key=int)
    world.equal(14, "only 1 and 101 are administrators", admins, ["1", "101"])
    world.check(15, "6 is free, 7 is locked", not users["6"].get("locked_at") and users["7"].get("locked_at"))
    status, answer = city.grant(grant_type="password", auth_type="impersonate", id="5", scope="public")
    world.check(15, "5 is blocked: 400 User blocked", status == 400 and answer["error_description"] == "User blocked", answer)
    accepted = [bool(users[ref].get("tos_accepted_at")) for ref in ("1", "4", "2")]
    world.equal(15, "1 and 4 accepted the terms, 2 did not", accepted, [True, True, False])


def clients(world, place, city, valmora, before, ran):
    status, answer = city.grant(CLIENT_2["client"], CLIENT_2["secret"], grant_type="client_credentials", scope="public proposals")
    world.check(18, "client 2 gets a token with its old secret", status == 200, answer)
    world.check(18, "client 5 does not exist", ("api_client", "5") not in before)
    permissions = {"public.component.read", "public.space.read", "proposals.read", "proposals.draft", "proposals.vote",
                   "oauth.impersonate", "proposal_creation.succeeded"}
    world.equal(18, "client 2 has the permissions it may have", set(before[("api_client", "2")].get("permissions", [])), permissions)
    world.equal(18, "proposal 2 names client 2", city.data("proposals/2").get("meta", {}).get("client_id"), 2)
    options = {**CLIENT_2, "scopes": ["public", "proposals"]}
    draft = city.data("draft_proposals/5", "2", **options)
    world.equal(18, "draft 5 names client 2", draft.get("meta", {}).get("client_id"), CLIENT_2["client"])
    keys = re.findall(r"'([0-9a-f]{64})'", DATA.read_text())
    world.check(19, "webhook 1 has its old key", before[("webhook_registration", "1")].get("signing_secret") == keys[0])
    world.check(26, "bob reads draft 5 through client 2", draft.get("id") == "5", draft)
    lost = [line for line in ran.residue if line["table"] == "decidim_proposals_proposals" and str(line["id"]) == "6"]
    world.check(26, "draft 6 is in the residue", any(line["code"] == "W-DRAFT" for line in lost), lost)
    status, answer = city.send("POST", "draft_proposals/sync", {"data": {"component_id": 2}}, "2")
    world.check(26, "another draft in component 2: 400", status == 400 and "already exists" in json.dumps(answer), answer)


def texts(world, place, city, valmora, before, ran):
    name = lambda id: city.data(f"components/search?filter[id_eq]={id}")[0]["attributes"]["name"]
    world.equal(20, "component 14 has the name that was text inside of JSON", name(14), {"en": "Youth ideas"})
    attributes = {id: city.data(f"proposals/{id}").get("attributes", {}) for id in (13, 14, 17)}
    found = {id: (texts.get("title"), texts.get("body")) for id, texts in attributes.items()}
    world.equal(20, "proposals 13, 14, 17 have the texts of §3.2", found, {
        13: ({"en": "Text in text"}, {"en": "Plain words"}), 14: ({}, {}), 17: ({"en": "By River Friends"}, {})})
    proposal = valmora.data("proposals/101", client="tests-valmora").get("attributes", {})
    world.equal(20, "Valmora's texts are Spanish ones", (proposal.get("title"), proposal.get("body")),
                ({"es": "Plaza peatonal"}, {"es": "Sense cotxes."}))
    seen = visibility(before)
    world.equal(12, "spaces are visible as commented", {ref: seen.get(ref) for ref in (
        "participatory_processes/1", "participatory_processes/2", "participatory_processes/4", "assemblies/1", "assemblies/2",
        "assemblies/3", "assemblies/4")}, {
        "participatory_processes/1": "public", "participatory_processes/2": "private", "participatory_processes/4": "transparent",
        "assemblies/1": "public", "assemblies/2": "transparent", "assemblies/3": "private", "assemblies/4": "public"})


def settings(world, place, city, valmora, before, ran):
    meta = city.data("components/proposal_components/2").get("meta", {})
    values = {"votes_enabled": True, "creation_enabled": False, "endorsements_enabled": False, "vote_limit": 3, "proposal_limit": 5,
              "proposal_edit_before_minutes": 120, "default_sort_order": "most_endorsed", "comments_max_length": 1500,
              "voting_cards_show_abstain": True}
    world.equal(21, "component 2 has the settings of step 2", {key: meta.get(key) for key in values}, values)
    meta = city.data("components/proposal_components/3").get("meta", {})
    world.equal(21, "component 3 has Decidim's default order", meta.get("default_sort_order"), "automatic")


def proposals(world, place, city, valmora, before, ran):
    shown = {id: city.data(f"proposals/{id}") for id in (1, 2, 3, 4, 7, 10, 11, 12, 15, 16, 17, 18)}
    related = lambda id, name: shown[id].get("relationships", {}).get(name, {})
    tokens = {id: related(id, "state").get("meta", {}).get("token") for id in (1, 3, 10, 11, 12)}
    world.equal(22, "states are the public ones", tokens, {1: "accepted", 3: None, 10: "in_study", 11: "not_answered", 12: "accepted"})
    world.check(22, "3 is not found as evaluating", "3" not in city.ids("proposals?filter[state_eq]=evaluating"))
    world.check(22, "7 is withdrawn", shown[7].get("meta", {}).get("withdrawn") is True
                and "7" in city.ids("proposals?filter[state_eq]=withdrawn"))
    authors = {id: [author["id"] for author in related(id, "coauthors").get("data", [])] for id in (2, 3, 4, 15, 16, 17, 18)}
    world.equal(23, "authors are those of the sample, in order", authors,
                {2: ["4", "2"], 3: [], 4: [], 15: [], 16: ["8"], 17: ["11"], 18: []})
    votes = {ref: (record["weight"]) for (kind, ref), record in before.items() if kind == "vote"}
    world.equal(24, "votes have their weights", votes, {"1": 3, "2": 0, "3": 1, "4": 1, "6": 1, "7": 1})
    marks = {"1": True, "t": True, "0": False, "f": False, "True": True, "False": False}
    temporary = {id for id, mark in place.query("select id, temporary from votes") if marks[mark]}
    world.equal(24, "3 and 4 are temporary", temporary, {"3", "4"})
    examples = [str(e.get("id")) for e in ran.report["codes"].get("W-TEMPORARY", {}).get("examples", [])]
    world.check(24, "W-TEMPORARY counts one vote", ran.report["codes"].get("W-TEMPORARY", {}).get("count") == 1, examples)
    hidden = {"proposals": {"8", "9"}, "blogs": {"5", "6"}, "meetings": {"5", "7"}}
    for path, ids in hidden.items():
        for actor in ("service", "1", "2", "4"):
            shows = [id for id in ids if city.get(f"{path}/{id}", actor)[0] != 404]
            found = ids & city.ids(path, actor)
            world.check(25, f"hidden and binned {path} do not appear to {actor}", not shows and not found, f"{shows} {found}")
    world.check(25, "binned component 4 does not appear", not city.data("components/search?filter[id_eq]=4"))
    reads = {(post, actor): city.get(f"blogs/{post}", actor)[0] for post in (3, 4) for actor in ("service", "1", "2", "4")}
    world.equal(25, "post 3 and draft 4 appear to their authors only", {key for key, status in reads.items() if status == 200},
                {(3, "1"), (4, "4")})


def meetings(world, place, city, valmora, before, ran):
    registered = {ref: sorted(record.get("registrations", [])) for (kind, ref), record in before.items() if kind == "meeting"}
    world.equal(27, "only accounts with a place are registered", {ref: users for ref, users in registered.items() if users},
                {"1": ["2", "4"], "2": ["4"]})
    sees = {actor: city.get("meetings/2", actor)[0] for actor in ("4", "2", "16")}
    world.equal(27, "meeting 2 is seen by mia and by role holders of its space, not by others", sees, {"4": 200, "2": 200, "16": 404})
    status, answer = city.grant(grant_type="password", auth_type="impersonate", id="7", scope="public meetings")
    world.check(27, "account 7 gets no token: it is locked", status == 400, answer)
    world.check(27, "meeting 3 is seen by all", all(city.get("meetings/3", actor)[0] == 200 for actor in ("service", "2", "16")))


def forms(world, place, city, valmora, before, ran):
    schema = city.data("questionnaires/1").get("attributes", {}).get("schema", {})
    world.equal(28, "questionnaire 1 has the data questions 2 to 9 and 11", sorted(schema.get("properties", {}), key=int),
                [str(id) for id in (2, 3, 4, 5, 6, 7, 8, 9, 11)])
    answers = city.data("questionnaire_responses/1").get("attributes", {}).get("answers", {})
    world.equal(28, "response 1 reads as in Decidim", {key: value for key, value in answers.items() if value is not None}, {
        "2": "By bike", "4": ["3"], "6": ["8", "6", "7"], "7": {"1": "9", "2": "10"}, "8": {"3": ["11", "12"]}, "9": ["7"]})

    def submit(questionnaire, answers, actor):
        body = {"meta": {}, "data": {"type": "questionnaire_response", "attributes": {"answers": answers},
                                     "relationships": {"questionnaire": {"data": {"type": "questionnaires", "id": questionnaire}}}}}
        status, answer = city.send("POST", "answers/sync", body, actor)
        return status, [detail.get("code") for detail in (answer or {}).get("error_details", [])]

    world.equal(28, "bob's next submission: already_answered", submit("1", {"2": "Again", "4": "1"}, "2"), (422, ["already_answered"]))
    world.equal(28, "survey 2: closed", submit("2", {}, "2"), (422, ["closed"]))


def files(world, place, city, valmora, before, ran):
    keys = {"1": "r1vertonplanpdfkeyaaaaaaaa01", "2": "r1photopngkeyaaaaaaaaaaaa02", "3": "r1notestxtkeyaaaaaaaaaaaa03",
            "7": "r1answertxtkeyaaaaaaaaaaa07"}
    if world.s3:
        keys["9"] = source.S3_KEY
    for id, key in keys.items():
        address = city.data(f"attachments/{id}").get("attributes", {}).get("url") or ""
        status, data = city.request("GET", urllib.parse.urlsplit(address).path, raw=True)
        world.check(29, f"file {id} has its bytes", status == 200 and data == world.objects[key], f"{address} {status} {data[:60]}")
    link = city.data("attachments/4").get("attributes", {})
    world.equal(29, "attachment 4 is a link", (link.get("file_type"), link.get("url")), ("link", "https://plan.example.test/"))
    world.check(29, "SVG is refused", city.get("attachments/11")[0] == 404 and ran.report["codes"].get("W-FILERULE", {}).get("count") == 1)
    broken = world.work / "broken"
    if not broken.exists():
        source.sample_files(broken)
        source.store(broken, keys["3"], b"hello worle\n")
        reader = source.address("sample", world.sources.reader, world.sources.password)
        other = world.run(world.target("sqlite"), reader, *world.base(files=broken), "--dry-run")
        counts = [one.report["codes"].get("W-FILE", {}).get("count", 0) for one in (ran, other)]
        world.check(29, "a changed byte in the store: W-FILE", counts[1] == counts[0] + 1, f"{counts} {other.errors}")


def role_id(kind, id, user, invited, role):
    text = json.dumps({"resource_type": f"Decidim::{kind}", "resource_id": id, "user_id": user, "invited_at": invited, "type": role},
                      separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


def roles(world, place, city, valmora, before, ran):
    process, assembly, conference, member = "ParticipatoryProcess", "Assembly", "Conference", "space_private_member"
    wanted = {role_id(*role) for role in (
        (process, 1, 4, None, "space_administrator"), (process, 1, 2, None, "space_moderator"),
        (process, 1, 15, "2026-05-01T09:30:00Z", "space_valuator"), (process, 1, 14, None, "space_valuator"),
        (process, 2, 16, None, member), (process, 2, 2, None, member), (assembly, 2, 4, None, "space_administrator"),
        (assembly, 3, 2, None, member), (assembly, 3, 4, None, member), (conference, 1, 2, None, "space_moderator"))}
    found = {role["id"]: role["attributes"] for role in city.list("roles") if role["attributes"]["type"] != "general_admin"}
    world.check(30, "the ids of all ten roles are those of the module", found.keys() == wanted, list(found.values()))
    own = [role for role in found.values() if role["user_id"] == 16]
    world.check(30, "user 16 has one role", len(own) == 1, own)


def extended_data(world, place, city, valmora, before, ran):
    organization = before[("organization", "1")]
    world.equal(31, "the organization has its data without blank values, and its pending host",
                (organization.get("extended_data"), organization.get("unconfirmed_host")),
                ({"crm": {"id": 7}}, "new.riverton.example.test"))
    bags = {"components/2": {"bot": {"menu": True}}, "spaces/participatory_processes/1": {"color": "green"},
            "proposals/1": {"source": "hotline", "tags": ["a", "b"]}, "meetings/1": {"room": 3}}
    found = {path: city.data(f"{path}/extended_data?object_path=.") for path in bags}
    world.equal(31, "component, process, proposal and meeting have theirs", found, bags)


def residue(world, before, ran):
    """Check 32."""
    report = ran.report
    wrong = [f"{host} {kind} {tally}" for host, types in report["organizations"].items() for kind, tally in types.items()
             if tally["source"] != tally["written"] + sum(tally["dropped"].values())]
    world.check(32, "rows of the source are written or dropped with a code: the sums fit", not wrong, wrong)
    counts = {"decidim_comments_comments": 3, "decidim_likes": 2, "decidim_follows": 1, "decidim_authorizations": 1,
              "decidim_budgets_projects": 1, "oauth_access_tokens": 2}
    found = report.get("tables", {})
    world.equal(32, "the report counts the other tables", {table: found.get(table) for table in counts}, counts)
    database = source.address("sample")
    secrets = source.rows(database, """
        select secret as s from oauth_applications union select token from oauth_access_tokens
        union select private_key from webhooks_tables union select magic_token from decidim_rest_full_user_magic_tokens
        union select encrypted_password from decidim_users union select encrypted_password from decidim_system_admins
        union select ip_hash from decidim_forms_responses union select session_token from decidim_forms_responses
        union select salt from decidim_forms_questionnaires union select metadata::text from decidim_authorizations""")
    # Shorter ones occur in other values.
    secrets = [row["s"] for row in secrets if row["s"] and len(row["s"]) >= 5]
    text = json.dumps(ran.residue)
    blobs = [line["id"] for line in ran.residue if (line["table"], line["code"]) == ("active_storage_blobs", "W-INLINE")]
    world.equal(32, "the residue names the file that a text links to", blobs, [2])
    world.check(32, "the residue has no tokens, hashes, keys and addresses", ran.residue and not any(s in text for s in secrets),
                [s for s in secrets if s in text])


def hash_of(place, user):
    return place.query(f"select password_hash from users where id = {user}")[0][0]


def logins(world, place, before):
    """Check 16."""
    with place.serving():
        city, valmora = target.Api(place.port, RIVERTON), target.Api(place.port, VALMORA)
        status, _ = city.login("bob", "wrong password")
        world.check(16, "a wrong password leaves the bcrypt hash", status == 400 and hash_of(place, 2).startswith("$2a$"), status)
        first, hashed, again = city.login("ada_martin", PASSWORD)[0], hash_of(place, 1), city.login("ada_martin", PASSWORD)[0]
        world.check(16, "the first sign-in replaces the hash by Argon2id, the second succeeds",
                    first == again == 200 and hashed.startswith("$argon2id$"), f"{first} {hashed[:12]} {again}")
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            both = list(pool.map(lambda _: target.Api(place.port, RIVERTON).login("mia-lopez", PASSWORD)[0], range(2)))
        world.check(16, "two sign-ins at once succeed, one hash stays", both == [200, 200] and hash_of(place, 4).startswith("$argon2id$")
                    and city.login("mia-lopez", PASSWORD)[0] == 200, both)
        short, long = city.login("lena_72", "a" * 71)[0], city.login("lena_72", "a" * 72 + "anything")[0]
        world.equal(16, "bcrypt reads 72 bytes: 71 do not fit, more do", (short, long), (400, 200))
        world.equal(16, "bob and marta sign in with their passwords", (city.login("bob", "decidim123456789")[0],
                    valmora.login("marta", "Valmora-ciutat-2026", "tests-valmora")[0]), (200, 200))
        world.check(16, "the system administrator signs in", target.panel_login(place.port, RIVERTON, "root@example.test", "system-admin-2026"))


def new_records(world, place, before):
    """Check 7: new rows get numbers above those of the source."""
    records = [
        {"type": "user", "ref": "new", "organization": "1", "nickname": "newcomer", "email": "new@riverton.example.test", "name": "New"},
        {"type": "proposal_state", "ref": "new", "organization": "1", "component": "2", "token": "fresh", "title": {"en": "Fresh"}},
        {"type": "proposal", "ref": "new", "organization": "1", "component": "2", "authors": [], "title": {"en": "New"}, "body": {"en": "New"},
         "published_at": "2026-09-01T00:00:00Z"},
        {"type": "page", "ref": "new", "organization": "1", "component": "1", "title": {"en": "New"}},
    ]
    file = place.directory / "new.ndjson"
    file.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    code, output, errors = place.call("import", "--quiet", file)
    refs = json.loads(output)["refs"]["1"] if code == 0 else {}
    tables = {"user": "decidim_users", "proposal_state": "decidim_proposals_proposal_states",
              "proposal": "decidim_proposals_proposals", "page": "decidim_pages_pages"}
    for kind, table in tables.items():
        highest = source.rows(source.address("sample"), f"select max(id) as n from {table}")[0]["n"]
        id = refs.get(kind, {}).get("new", 0)
        world.check(7, f"a new {kind} gets an id above {highest}", id > highest, f"{id} {errors}")
    fresh, database = world.target("sqlite"), source.address("sample", world.sources.reader, world.sources.password)
    fresh.must("import", "--quiet", write(fresh.directory / "other.ndjson", [
        {"type": "organization", "ref": "other", "host": "other.example.test", "name": {"en": "Other"}, "available_locales": ["en"],
         "default_locale": "en"}, {**records[0], "organization": "other"}]))
    ran = world.run(fresh, database, *world.base())
    world.check(8, "a target with a user: S-IDS", ran.code == 1 and "S-IDS" in ran.errors, ran.errors)
    world.check(8, "the report names it", "S-IDS" in "".join(ran.report.get("failure", [])), ran.report.get("failure"))
    ran = world.run(fresh, database, *world.base(), "--new-ids")
    refs = (ran.report.get("target") or {}).get("refs") or {}
    sums = {kind: sum(len(of.get(kind, {})) for of in refs.values()) for kind in WRITTEN}
    world.check(8, "with --new-ids it ends, and the table old to new is complete", ran.code == 0 and sums == wanted(world),
                f"{sums} {ran.errors}")
    if ran.code == 0:
        new_ids(world, before, fresh, refs)
        again = world.run(fresh, database, *world.base(), "--new-ids")
        world.check(8, "the same import again changes nothing", again.code == 0 and not changed(again), f"{changed(again)} {again.errors}")
    moved = world.sources.copy("moved", "sample", "update decidim_organizations set host = 'moved.example.test' where id = 1")
    kept = fresh.export()
    ran = world.run(fresh, moved, *world.base(), "--new-ids")
    world.check(8, "another source with the same number of an organization: S-IDS",
                ran.code == 1 and "S-IDS" in ran.errors and fresh.export() == kept, ran.errors)
    world.sources.drop("moved")


def new_ids(world, before, fresh, refs):
    """Check 8: references lead to the new records."""
    records = fresh.export()
    to = lambda record, kind, ref: str(refs[record["organization"]].get(kind, {}).get(ref))
    wrong = []
    for (kind, ref), old in before.items():
        if kind not in ("user", "proposal", "vote", "meeting", "post"):
            continue
        new = records.get((kind, to(old, kind, ref)), {})
        for member, of in (("component", "component"), ("proposal", "proposal"), ("user", "user"), ("author", "user")):
            if member in old and new.get(member) != to(old, of, old[member]):
                wrong.append(f"{kind} {ref}: {member}")
        if new.get("authors", []) != [to(old, "user", user) for user in old.get("authors", [])]:
            wrong.append(f"{kind} {ref}: authors")
        wrong += [f"{kind} {ref}: {name}" for name in ("title", "nickname", "weight") if new.get(name) != old.get(name)]
    world.check(8, "its records are those of the sample, and refer to the new ones", not wrong, wrong)


def write(file, records):
    file.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return file


def peppers(world):
    """Check 16: the hash of a password with a pepper."""
    peppered = "$2a$11$qDiz/i8WNsWBpJpOuzyd6eHeQxoMjsXYq35iuWEuoaQMh6nqAhj3m"
    database = world.sources.copy("pepper", "sample", f"update decidim_users set encrypted_password = '{peppered}' where id = 2")
    place, _ = world.imported("sqlite", database, DECIDIM_PASSWORD_PEPPER="riverton-pepper")
    place.add_client(1)
    with place.serving():
        city = target.Api(place.port, RIVERTON)
        found = city.login("bob", "decidim123456789")[0], city.login("bob", PASSWORD)[0], city.login("bob", PASSWORD)[0]
        world.equal(16, "with the pepper its password fits, twice", found, (400, 200, 200))
    world.sources.drop("pepper")


def timings(world):
    """Check 17: 200 failed logins of three kinds. Each client fails 19 times, as 20 close a login."""
    reader = source.address("sample", world.sources.reader, world.sources.password)
    place, _ = world.imported("sqlite", reader)
    names = [f"tests-timings-{number}" for number in range(12)]
    for name in names:
        place.add_client(1, name)
    with place.serving():
        city = target.Api(place.port, RIVERTON)
        city.login("ada_martin", PASSWORD, names[-1])
        seconds = {"nobody_here": [], "bob": [], "ada_martin": []}
        for number in range(200):
            for nickname, taken in seconds.items():
                start = time.monotonic()
                city.login(nickname, "wrong password", names[number // 19])
                taken.append(time.monotonic() - start)
    medians = {name: statistics.median(taken) for name, taken in seconds.items()}
    world.check(17, "failed logins of an unknown name, a bcrypt and an Argon2id account take the same time",
                max(medians.values()) <= 1.1 * min(medians.values()), medians)
