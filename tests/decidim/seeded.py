"""The checks of tests/decidim/run on the city that Decidim seeded itself, and on a large one."""
import concurrent.futures
import random
import threading
import urllib.parse

import sample
import source
import target

FILES = [source.HERE / name for name in ("schema-subset.sql", "seeded-0.31.sql.xz", "seeded-rest.sql", "shape-0.31.sql")]
HOST, PASSWORD = "localhost", "decidim123456789"
# The city's own client, and its secret.
CLIENT = {"client": "client-a-id", "secret": "hidden-suite-secret-0123456789abcdef"}
LOCKED = "4"
# The limits of the import of a million votes.
LONGEST_SECONDS, MEMORY_MIB = 600, 256
# Records by type, with the tables whose ids they have.
WRITTEN = {
    "user": (258, "decidim_users"), "component": (58, "decidim_components where manifest_name <> 'sortitions'"),
    "proposal": (112, "decidim_proposals_proposals"), "vote": (100, "decidim_proposals_proposal_votes"),
    "meeting": (20, "decidim_meetings_meetings"), "post": (4, "decidim_blogs_posts"),
    "questionnaire": (8, "decidim_forms_questionnaires"), "question": (36, "decidim_forms_questions"),
    "questionnaire_response": (101, None),
    "attachment": (100, "decidim_attachments where attached_to_type <> 'Decidim::Budgets::Project'"),
    "debate": (8, "decidim_debates_debates"), "result": (24, "decidim_accountability_results"),
    "page": (10, "decidim_pages_pages"), "budget": (4, "decidim_budgets_budgets"),
}
SPACES = {"participatory_processes": 1, "assemblies": 2, "conferences": 1, "initiatives": 6}
COUNTED = {"decidim_comments_comments": 1048, "decidim_likes": 3012, "decidim_proposals_collaborative_drafts": 85,
           "decidim_taxonomies": 16}


def options(files):
    return ["--files", f"local=file://{files}"]


def city(world, engine):
    """The acceptance list of the seeded city."""
    files = world.work / "seeded"
    if "seeded" not in world.sources.made:
        world.sources.load("seeded", *FILES)
        world.bytes = source.seeded_files(source.address("seeded"), files)
    database, reader = source.address("seeded"), world.sources.as_reader("seeded")
    if engine == "sqlite":
        # What docs/LEAVING-DECIDIM.md shows.
        ran = world.run(world.target(engine), reader, "--dry-run", *options(files))
        world.check("city", "a dry run lists losses, and ends with 1", ran.code == 1 and "W-MANIFEST: " in ran.errors, ran.errors)
        print(ran.errors, flush=True)
    place, ran = world.imported(engine, reader, *options(files), "--accept", "all")
    if engine == "sqlite":
        print(ran.errors, flush=True)
    records = place.export("--with-secrets")
    report = ran.report
    world.equal("city", "it is recognised as 0.31", report["source"]["decidim"], "0.31")
    found = sample.written(report)
    for kind, (count, table) in WRITTEN.items():
        ids = {ref.rpartition("/")[2] for (type, ref) in records if type == kind}
        kept = {str(row["id"]) for row in source.rows(database, f"select id from {table}")} if table else ids
        world.check("city", f"{count} records {kind}, with their ids", found.get(kind) == count and ids == kept,
                    f"{found.get(kind)} {sorted(ids ^ kept)[:10]}")
    spaces = {f"{kind}/{row['id']}" for kind in SPACES for row in source.rows(database, f"select id from decidim_{kind}")}
    world.check("city", "10 spaces, with their ids", {ref for (type, ref) in records if type == "space"} == spaces, spaces)
    kept = {str(row["id"]) for row in source.rows(database, "select id from decidim_proposals_proposal_states")}
    states = {ref for (type, ref) in records if type == "proposal_state"}
    world.check("city", "the ids of proposal states", kept <= states, f"{kept} {states}")
    stored = {ref: record.get("password_hash") for (type, ref), record in records.items() if type == "user"}
    hashes = {str(row["id"]): row["h"] for row in source.rows(database, "select id, encrypted_password as h from decidim_users")}
    world.check("city", "258 password hashes are those of the source", stored == hashes)
    lost(world, report, ran.residue)
    with place.serving():
        api = target.Api(place.port, HOST)
        bytes_of_files(world, place, api, records)
        sign_ins(world, place, api, records)



def lost(world, report, residue):
    """What the report names."""
    # Files of projects are counted without their organization.
    dropped = {"component": {}, "attachment": {}, "attachment_collection": {}}
    for types in report["organizations"].values():
        for kind, codes in dropped.items():
            codes.update(types.get(kind, {}).get("dropped", {}))
    world.equal("city", "the report names four sortitions, twelve files and four collections of projects", dropped, {
        "component": {"W-MANIFEST": 4}, "attachment": {"W-PARENT": 12}, "attachment_collection": {"W-PARENT": 4}})
    found = {table: report["tables"].get(table) for table in COUNTED}
    world.equal("city", "1,048 comments, 3,012 likes, 85 drafts written together, 16 taxonomies", found, COUNTED)
    columns = {name: sum(line["table"] == "decidim_proposals_proposals" and name in line["row"] for line in residue)
               for name in ("answer", "address")}
    world.equal("city", "the residue has 41 texts of answers and 85 addresses", columns, {"answer": 41, "address": 85})


def bytes_of_files(world, place, api, records):
    """All 100 files are stored with their bytes; those that everybody may see are served so."""
    attached = source.rows(source.address("seeded"), "select a.record_id as id, b.key from active_storage_attachments a"
                           " join active_storage_blobs b on b.id = a.blob_id where a.record_type = 'Decidim::Attachment'")
    wanted = {str(row["id"]): world.bytes[row["key"]] for row in attached if ("attachment", str(row["id"])) in records}
    stored = {path.read_bytes() for path in (place.directory / "data/files").rglob("*") if path.is_file()}
    missing = [id for id, data in wanted.items() if data not in stored]
    world.check("city", "100 files are stored with their bytes", len(wanted) == 100 and not missing, f"{len(wanted)} {missing[:10]}")
    token = api.token("service", **CLIENT, scopes=["attachments"])
    wrong, page, served = [], 1, {}
    while page:
        _, answer = api.request("GET", f"{target.BASE}/attachments?per_page=100&page={page}", token)
        served.update({one["id"]: one["attributes"]["url"] for one in answer["data"]})
        page = page + 1 if answer["meta"]["has_more"] else 0
    for id, address in served.items():
        status, data = api.request("GET", urllib.parse.urlsplit(address).path, raw=True)
        if status != 200 or data != wanted.get(id):
            wrong.append(id)
    world.check("city", "those of public records are served with their bytes", len(served) > 90 and not wrong,
                f"{len(served)} {wrong[:10]}")


def sign_ins(world, place, api, records):
    """People sign in with the password of all seeds, four at once: bcrypt takes a core a tenth of a second and more."""
    nicknames = {ref: record["nickname"] for (type, ref), record in records.items() if type == "user"}
    status, answer = api.login(nicknames[LOCKED], PASSWORD, **CLIENT)
    world.check("city", "the locked person cannot sign in", status == 400 and answer["error_description"] == "User locked", answer)
    others = sorted(set(nicknames) - {LOCKED}, key=int)
    chosen = others if world.options.people >= len(others) else random.sample(others, world.options.people)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        login = lambda id: target.Api(place.port, HOST).login(nicknames[id], PASSWORD, **CLIENT)[0]
        refused = [id for id, status in zip(chosen, pool.map(login, chosen)) if status != 200]
    world.check("city", f"{len(chosen)} of the 257 others sign in", not refused, refused)
    world.check("city", "the system administrator signs in", target.panel_login(place.port, HOST, "system@example.org", PASSWORD))


def large(world, engine):
    """Check 36: a million votes."""
    if "large" not in world.sources.made:
        world.sources.load("large", sample.SCHEMA, source.HERE / "large.sql")
    reader = world.sources.as_reader("large")

    def measure(place, *more):
        process = place.start("import-decidim", reader, "--accept", "all", "--quiet", *more)
        texts = []
        drain = threading.Thread(target=lambda: texts.extend(process.communicate()))
        drain.start()
        code, seconds, peak = target.peak_memory(process)
        drain.join()
        return code, seconds, peak, texts[-1] if texts else ""

    place = world.target(engine)
    if engine == "sqlite":
        code, seconds, peak, errors = measure(place, "--output", place.directory / "large.ndjson")
        print(f"extraction of a million votes: {seconds:.0f} s, {peak:.0f} MiB", flush=True)
        world.check(36, "the extraction needs less than 256 MiB", code == 0 and peak < MEMORY_MIB, f"{code} {peak} {errors}")
    code, seconds, peak, errors = measure(place)
    print(f"import of a million votes, {engine}: {seconds:.0f} s, {peak:.0f} MiB", flush=True)
    world.check(36, f"{engine}: plan and import end within 10 minutes, in 256 MiB",
                code == 0 and seconds < LONGEST_SECONDS and peak < MEMORY_MIB, f"{code} {seconds} {peak} {errors}")
    votes = place.query("select count(*) from votes")[0][0]
    world.equal(36, f"{engine}: a million votes are stored", votes, "1000000")
