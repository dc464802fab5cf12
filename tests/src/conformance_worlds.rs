//! The worlds of the conformance tests of the domain crates, each made from a [`World`].

use crate::World;
use crate::fixtures::CLIENT;

/// Makes a world: its ports, its members from [`World`] and from [`crate::Fixtures`], and constants. `a = b` is the
/// member `a` from the port or member `b`.
macro_rules! world {
    (@port $of:expr, $port:ident) => { $of.ports().$port() };
    (@port $of:expr, $member:ident = $port:ident) => { $of.ports().$port() };
    (@member $of:expr, $member:ident) => { $of.$member };
    (@member $of:expr, $member:ident = $source:ident) => { $of.$source };
    ($($path:ident)::+:
        ports($($port:ident $(= $method:ident)?),+)
        world($($own:ident $(= $of_world:ident)?),*)
        fixtures($($fixture:ident $(= $of_fixtures:ident)?),*)
        $(with($($constant:ident: $value:expr),+))?
    ) => {
        impl<'a> From<&'a World> for $($path)::+<'a> {
            fn from(world: &'a World) -> Self {
                Self {
                    $($port: world!(@port world, $port $(= $method)?),)+
                    $($own: world!(@member world, $own $(= $of_world)?),)*
                    $($fixture: world!(@member world.fixtures, $fixture $(= $of_fixtures)?),)*
                    $($($constant: $value,)+)?
                }
            }
        }
    };
}

world!(civitas_accounts::conformance::World:
    ports(users, clients, tokens, roles, queue)
    world(mine, other, space, assembly, conference)
    fixtures()
);

world!(civitas_accounts::conformance::PanelWorld:
    ports(administrators, sessions = panel_sessions, ended = ended_credentials)
    world(mine)
    fixtures()
);

world!(civitas_accounts::conformance::LinkWorld:
    ports(
        users, organizations = organization_lookup, confirmations, magic_links, sessions, tokens,
        ended = ended_credentials
    )
    world(mine, other)
    fixtures(client)
);

world!(civitas_accounts::conformance::LoginWorld:
    ports(failures = login_failures, counts = mail_counts)
    world(client = other_client, second_client = wide_client, mine, other)
    fixtures()
);

world!(civitas_jobs::conformance::World:
    ports(jobs, log = job_log)
    world(mine, other)
    fixtures(client, user = nora)
    with(client_uid: CLIENT, nickname: "nora")
);

world!(civitas_webhooks::conformance::World:
    ports(outbox, registrations, deliveries, log = delivery_log)
    world(other, other_client, wide_client)
    fixtures(mine, client, second_client = other_client)
);

world!(civitas_audit::conformance::World:
    ports(log = audit)
    world(mine, other)
    fixtures()
);

world!(civitas_tasks::conformance::World:
    ports(queue, tasks, log = task_log)
    world(mine, other)
    fixtures()
);

world!(civitas_attachments::conformance::World:
    ports(attachments, collections, files, uploads, parents)
    world(other)
    fixtures(mine, space = process, client)
);

world!(civitas_blogs::conformance::World:
    ports(posts, lookup = blogs)
    world(other)
    fixtures(mine, nora, otto, space = process, blog, ideas)
);

world!(civitas_meetings::conformance::World:
    ports(meetings, reminders)
    world(other)
    fixtures(
        mine, nora, otto, mona, ines, admin, space = process, agenda, walks, unpublished = unpublished_meetings,
        sessions, blog
    )
);

world!(civitas_proposals::conformance::World:
    ports(proposals, components = component_lookup, states, votes)
    world(other)
    fixtures(
        mine, nora, otto, admin, client, other_client, space = process, ideas, wishes, unpublished, transparent,
        blog
    )
    with(client_uid: CLIENT)
);

world!(civitas_surveys::conformance::World:
    ports(
        surveys, questionnaires, questions, options = answer_options, conditions = display_conditions, responses,
        lookup = survey_lookup
    )
    world(other)
    fixtures(
        mine, nora, otto, component = surveys, second = more_surveys, unpublished = unpublished_surveys
    )
);

impl<'a> From<&'a World> for civitas_extended_data::conformance::World<'a> {
    fn from(world: &'a World) -> Self {
        let fixtures = &world.fixtures;
        Self {
            store: world.ports().extended_data(),
            mine: fixtures.mine,
            other: world.other,
            owners: vec![
                fixtures.mine.into(),
                fixtures.nora.into(),
                fixtures.process.into(),
                fixtures.ideas.into(),
            ],
            unseen: vec![fixtures.unpublished.into()],
        }
    }
}
