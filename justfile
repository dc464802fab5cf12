# Tasks of everyday work. `just` lists them; nothing here is needed to run or test Civitas.

set shell := ["bash", "-euo", "pipefail", "-c"]

# list the tasks
_default:
    @just --list --unsorted

# format, layers, words, clippy: what must be clean before a commit
check: layers words
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings

# who depends on whom, asked of Cargo
layers:
    .ci/layers

# retired words in names and prose
words:
    .ci/words

# docs/PRICE.md: what a kind of record costs (needs Python 3)
price:
    .ci/price

# every test; the PostgreSQL half where CIVITAS_TEST_POSTGRES (or localhost:5432) answers
test *ARGS:
    cargo test --workspace {{ ARGS }}

# every test, and no PostgreSQL is a failure
test-postgres *ARGS:
    CIVITAS_REQUIRE_POSTGRES=1 cargo test --workspace {{ ARGS }}

# the pictures of docs/ADMINISTRATION.md, made by the browser tests (needs Chromium and tests/browser/install)
pictures:
    CIVITAS_REQUIRE_BROWSER=1 CIVITAS_TEST_PICTURES=1 cargo test --package civitas-tests --test pages browser
    cp target/panel-screenshots/start-1280-light.png docs/pictures/start.png
    cp target/panel-screenshots/organizations-id-spaces-manifest-sid-1280-light.png docs/pictures/space.png
    cp target/panel-screenshots/organizations-id-surveys-vid-1280-light.png docs/pictures/survey.png
    cp target/panel-screenshots/api-clients-id-edit-1280-light.png docs/pictures/client-permissions.png

# the form of a questionnaire in a browser, with JSON Forms (needs Node.js, npm, Chromium)
jsonforms:
    cargo build --package civitas-server
    tests/jsonforms/run

# the receivers of docs/receivers and the commands of docs/WEBHOOKS.md (needs Python 3 with pip, Node.js, npm, Ruby)
receivers:
    cargo build --package civitas-server
    tests/receivers/run

# the OpenAPI document, with three linters (needs Python 3 with pip, Node.js, npm)
openapi:
    cargo build --package civitas-server
    tests/openapi/run

# the packages of clients: generated, built and tested (needs Python 3 with pip, Node.js, npm)
clients:
    cargo build --package civitas-server
    clients/run

# the databases that releases kept, migrated and compared (needs Python 3; PostgreSQL where CIVITAS_TEST_POSTGRES is set)
upgrade:
    cargo build --package civitas-server
    tests/upgrade/run

# behind PgBouncer, reads at a standby, failover with Patroni (needs root on Debian; PostgreSQL at CIVITAS_TEST_POSTGRES)
scale:
    cargo build --package civitas-server
    tests/scale/run

# what each step of docs/SCALING.md carries (as `scale`, and wrk); the deployment with many organizations: tests/scale/simulation
steps:
    cargo build --release --package civitas-server --package civitas-load
    tests/scale/steps

# two Decidim databases, imported and checked (needs Python 3, psql and a PostgreSQL at CIVITAS_TEST_POSTGRES)
decidim *ARGS:
    cargo build --package civitas-server
    tests/decidim/run target/debug/civitas {{ ARGS }}

# the token endpoints, with authlib and openid-client (needs Python 3 with pip, Node.js, npm)
oauth-clients:
    cargo build --package civitas-server
    tests/oauth-clients/run

# the client of openapi-generator: generated, compiled and used (needs Java, Python 3 with pip, Node.js, npm)
openapi-generator:
    cargo build --package civitas-server
    tests/openapi-generator/run

# the server against its OpenAPI document, with schemathesis: this many seconds; PostgreSQL where CIVITAS_TEST_POSTGRES is set
schemathesis SECONDS="60":
    cargo build --package civitas-server
    CIVITAS_SCHEMATHESIS_SECONDS={{ SECONDS }} tests/schemathesis/run

# hostile input: each target this many seconds, all at the same time; a failure prints a seed for CIVITAS_FUZZ_SEED
fuzz SECONDS="3600":
    CIVITAS_FUZZ_SECONDS={{ SECONDS }} nice -n 19 cargo test --package civitas-tests --test hostile -- --nocapture --test-threads=16

# records and tokens of other organizations: this many requests on each engine
probes COUNT="20000":
    CIVITAS_PROBES={{ COUNT }} cargo test --package civitas-tests --test probes -- --nocapture

# the documentation of the code, opened in a browser
docs:
    cargo doc --workspace --no-deps --open

# a working platform on http://localhost:3000
run *ARGS:
    cargo run --release -- demo {{ ARGS }}

# the files of a release in target/dist: tarball, package, image, chart (needs Debian 12 and what dist/build names)
dist:
    dist/build

# the files of a release, tried as their users would (needs root on Debian 12 and what tests/dist/run names)
test-dist:
    tests/dist/run

# bring the schema of the configured database up to date
migrate *ARGS:
    cargo run --release -- migrate {{ ARGS }}

# load test, sqlite or postgres: the release server against a baseline server (needs wrk; docs/PERFORMANCE.md)
load *ARGS:
    cargo build --release --package civitas-server --package civitas-load
    target/release/load run {{ ARGS }}

# load test: webhooks and event streams
load-webhooks *ARGS:
    cargo build --release --package civitas-server --package civitas-load
    target/release/load webhooks {{ ARGS }}

# an hour of mixed load; fails if something is lost, repeated or leaked (--engine sqlite|postgres)
soak *ARGS="--engine sqlite":
    cargo build --release --package civitas-server --package civitas-load
    target/release/load soak {{ ARGS }}

# healthy clients beside 2,000 slow connections (--engine sqlite|postgres, --nginx)
slow *ARGS="--engine sqlite":
    cargo build --release --package civitas-server --package civitas-load
    target/release/load slow {{ ARGS }}

# licences, bans, sources, advisories of all dependencies (needs cargo-deny)
deny:
    cargo deny check

# all that decides whether a commit is good; starts a PostgreSQL of its own
ci:
    .ci/run
