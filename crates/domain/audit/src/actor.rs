//! Who acts.

use civitas_kernel::UserId;

/// Who acted. Every kind has the names it had at that time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    /// A system administrator, in the panel.
    Administrator {
        /// The account.
        id: i64,
        /// Its e-mail address.
        email: String,
    },
    /// An API client.
    Client {
        /// Its public name.
        uid: String,
        /// Its display name.
        name: String,
        /// The user it acted for, impersonated or not, with the nickname.
        user: Option<(UserId, String)>,
    },
    /// A command on the server.
    CommandLine {
        /// The command without its options: `civitas api-client grant`.
        command: String,
    },
    /// An import of an archive.
    Archive,
    /// Somebody whose credentials were refused.
    Anonymous,
}

civitas_kernel::named_enum! {
    /// The kind of an actor.
    pub enum ActorKind {
        /// [`Actor::Administrator`].
        Administrator = "administrator",
        /// [`Actor::Client`].
        Client = "client",
        /// [`Actor::CommandLine`].
        CommandLine = "command_line",
        /// [`Actor::Archive`].
        Archive = "archive",
        /// [`Actor::Anonymous`].
        Anonymous = "anonymous",
    }
}

impl Actor {
    /// Its kind.
    pub fn kind(&self) -> ActorKind {
        match self {
            Self::Administrator { .. } => ActorKind::Administrator,
            Self::Client { .. } => ActorKind::Client,
            Self::CommandLine { .. } => ActorKind::CommandLine,
            Self::Archive => ActorKind::Archive,
            Self::Anonymous => ActorKind::Anonymous,
        }
    }

    /// The id: the number of an administrator, the public name of a client.
    pub fn id(&self) -> Option<String> {
        match self {
            Self::Administrator { id, .. } => Some(id.to_string()),
            Self::Client { uid, .. } => Some(uid.clone()),
            Self::CommandLine { .. } | Self::Archive | Self::Anonymous => None,
        }
    }

    /// The name: the address of an administrator, the display name of a client, the command.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Administrator { email: name, .. }
            | Self::Client { name, .. }
            | Self::CommandLine { command: name } => Some(name),
            Self::Archive | Self::Anonymous => None,
        }
    }

    /// The user a client acted for.
    pub fn user(&self) -> Option<(UserId, &str)> {
        match self {
            Self::Client { user, .. } => user.as_ref().map(|(id, nickname)| (*id, nickname.as_str())),
            _ => None,
        }
    }

    /// The actor of these parts. `None` when a part is missing, or does not belong to the kind.
    pub fn from_parts(
        kind: ActorKind,
        id: Option<String>,
        name: Option<String>,
        user: Option<(UserId, String)>,
    ) -> Option<Self> {
        match (kind, id, name, user) {
            (ActorKind::Administrator, Some(id), Some(email), None) => {
                let number = id.parse().ok()?;
                let actor = Self::Administrator { id: number, email };
                (actor.id() == Some(id)).then_some(actor)
            }
            (ActorKind::Client, Some(uid), Some(name), user) => Some(Self::Client { uid, name, user }),
            (ActorKind::CommandLine, None, Some(command), None) => Some(Self::CommandLine { command }),
            (ActorKind::Archive, None, None, None) => Some(Self::Archive),
            (ActorKind::Anonymous, None, None, None) => Some(Self::Anonymous),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_actor_is_read_back_from_its_parts_and_from_no_others() {
        let actors = [
            Actor::Administrator { id: 7, email: "ines@riverton.example".to_owned() },
            Actor::Client { uid: "id_app".to_owned(), name: "App".to_owned(), user: None },
            Actor::Client {
                uid: "id_app".to_owned(),
                name: "App".to_owned(),
                user: Some((UserId(3), "ada".to_owned())),
            },
            Actor::CommandLine { command: "civitas import".to_owned() },
            Actor::Archive,
            Actor::Anonymous,
        ];
        for actor in actors {
            let parts = |kind| {
                let user = actor.user().map(|(id, nickname)| (id, nickname.to_owned()));
                Actor::from_parts(kind, actor.id(), actor.name().map(str::to_owned), user)
            };
            assert_eq!(parts(actor.kind()), Some(actor.clone()));
            assert_eq!(ActorKind::parse(actor.kind().as_str()), Some(actor.kind()));
        }
        let command = Some("civitas".to_owned());
        assert_eq!(Actor::from_parts(ActorKind::Archive, None, command.clone(), None), None);
        assert_eq!(Actor::from_parts(ActorKind::Administrator, Some("07".to_owned()), command, None), None);
    }
}
