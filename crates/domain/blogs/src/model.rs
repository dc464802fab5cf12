//! A blog post, and the rules of its texts and of its publication.

use civitas_kernel::limits::{MAX_LINE_CHARS, MAX_PROSE_CHARS};
use civitas_kernel::records::{Entity, RecordField, RecordFields, SearchTexts};
use civitas_kernel::{
    ComponentContext, ComponentId, Error, Locale, PostId, Result, Translated, UserId, Wording,
};
use time::OffsetDateTime;

/// The state of a post at some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PostState {
    /// Published.
    Published,
    /// Published later.
    Scheduled,
    /// Without time of publication.
    Draft,
    /// Hidden by a moderator, whatever its time of publication.
    Hidden,
}

/// A blog post.
#[derive(Debug, Clone, PartialEq)]
pub struct Post {
    /// The component it belongs to.
    pub component: ComponentId,
    /// Its title.
    pub title: Translated,
    /// Its body: HTML, as written.
    pub body: Translated,
    /// The user who wrote it; `None` for the organization itself.
    pub author: Option<UserId>,
    /// When it is published: `None` for a draft, a later time for a scheduled post.
    pub published_at: Option<OffsetDateTime>,
    /// When it was hidden by a moderator: no viewer sees it, not even its author.
    pub hidden_at: Option<OffsetDateTime>,
    /// When it was deleted.
    pub deleted_at: Option<OffsetDateTime>,
    /// When it was created.
    pub created_at: OffsetDateTime,
    /// When it was last changed. The publication of a scheduled post is not a change.
    pub updated_at: OffsetDateTime,
}

impl Post {
    /// A new draft of the organization.
    pub fn new(component: ComponentId, title: Translated, body: Translated, now: OffsetDateTime) -> Self {
        Self {
            component,
            title,
            body,
            author: None,
            published_at: None,
            hidden_at: None,
            deleted_at: None,
            created_at: now,
            updated_at: now,
        }
    }

    /// Whether a viewer can see it at some time: neither hidden nor deleted.
    pub fn is_shown(&self) -> bool {
        self.hidden_at.is_none() && self.deleted_at.is_none()
    }

    /// Whether it is published at this time, inclusive.
    pub fn is_published(&self, now: OffsetDateTime) -> bool {
        self.published_at.is_some_and(|at| at <= now)
    }

    /// Whether a viewer who sees this state may not see the state `later`: clients may have cached lists with it.
    pub fn loses_viewers_in(&self, later: &Self) -> bool {
        self.is_shown()
            && (!later.is_shown() || (self.published_at.is_some() && later.published_at != self.published_at))
    }

    /// Its state at this time.
    pub fn state(&self, now: OffsetDateTime) -> PostState {
        match self.published_at {
            _ if self.hidden_at.is_some() => PostState::Hidden,
            None => PostState::Draft,
            Some(at) if at > now => PostState::Scheduled,
            Some(_) => PostState::Published,
        }
    }

    /// Publishes a draft or a scheduled post now. A published one keeps its time.
    pub fn publish(&mut self, now: OffsetDateTime) {
        if !self.is_published(now) {
            self.published_at = Some(now);
        }
    }

    /// Makes it a draft.
    pub fn unpublish(&mut self) {
        self.published_at = None;
    }

    /// Hides it from all viewers. A hidden post keeps its time.
    pub fn hide(&mut self, now: OffsetDateTime) {
        self.hidden_at.get_or_insert(now);
    }

    /// Shows a hidden post again.
    pub fn show(&mut self) {
        self.hidden_at = None;
    }

    /// Deletes it.
    pub fn delete(&mut self, now: OffsetDateTime) {
        self.deleted_at = Some(now);
    }

    /// Checks its texts: title before body (contract 07 A.6).
    ///
    /// # Errors
    /// `Invalid` with `blank` for a text that is blank in `locale`, the default one of the organization, and with
    /// `too_long`.
    pub fn check(&self, locale: Locale) -> Result<()> {
        Error::unless_valid(Wording::InvalidRequest, self.field_errors(None, locale))
    }
}

type Field = RecordField<Post>;

impl RecordFields for Post {
    const NAME: &'static str = "post";
    const FIELDS: &'static [Field] = &[
        Field::texts("title", MAX_LINE_CHARS, |p| &p.title).required(),
        Field::texts("body", MAX_PROSE_CHARS, |p| &p.body).required(),
        Field::time("published_at", |p| p.published_at),
        Field::time("hidden_at", |p| p.hidden_at),
    ];
}

impl Entity for Post {
    type Id = PostId;

    civitas_kernel::time_fields!(updated_at, deleted_at);

    fn lists_changed(&self, before: Option<&Self>) -> Vec<&'static str> {
        let is_lost = before.is_some_and(|before| before.loses_viewers_in(self));
        if is_lost { vec!["posts"] } else { Vec::new() }
    }

    fn search_texts(&self) -> Option<SearchTexts> {
        Some(SearchTexts::new(&self.title, Some(&self.body)))
    }
}

/// A post as a viewer reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct PostDetail {
    /// Its id.
    pub id: PostId,
    /// The post.
    pub post: Post,
    /// Its component and space.
    pub context: ComponentContext,
}

impl PostDetail {
    /// The latest change of the post, its component and its space, including the publication of a scheduled post
    /// (contract 07 A.5).
    pub fn changed_at(&self, now: OffsetDateTime) -> OffsetDateTime {
        let published = self.post.published_at.filter(|at| *at <= now);
        self.post.updated_at.max(self.context.changed_at).max(published.unwrap_or(self.post.updated_at))
    }
}

/// The neighbours of a post in a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PostNeighbours {
    /// The next one.
    pub next: Option<PostId>,
    /// The previous one.
    pub prev: Option<PostId>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::Duration;
    use time::macros::datetime;

    const NOW: OffsetDateTime = datetime!(2026-03-01 09:30 UTC);

    fn post(title: &str, body: &str) -> Post {
        let text = |text: &str| Translated::from([(Locale::EN, text.to_owned())]);
        Post::new(ComponentId(1), text(title), text(body), NOW)
    }

    #[test]
    fn a_post_is_published_from_its_own_time_on() {
        let at = |at| Post { published_at: at, ..post("A", "B") };
        assert!(!at(None).is_published(NOW));
        assert!(!at(Some(NOW + Duration::MICROSECOND)).is_published(NOW));
        assert!(at(Some(NOW)).is_published(NOW));
    }

    #[test]
    fn a_post_is_published_once_and_can_become_a_draft_again() {
        let mut post = Post { published_at: Some(NOW + Duration::DAY), ..post("A", "B") };
        assert_eq!(post.state(NOW), PostState::Scheduled);
        for at in [NOW, NOW + Duration::HOUR] {
            post.publish(at);
            assert_eq!((post.state(at), post.published_at), (PostState::Published, Some(NOW)));
        }
        post.unpublish();
        assert_eq!(post.state(NOW), PostState::Draft);
    }

    #[test]
    fn a_hidden_post_keeps_its_time_of_publication_until_it_is_shown_again() {
        let mut post = Post { published_at: Some(NOW), ..post("A", "B") };
        for at in [NOW, NOW + Duration::HOUR] {
            post.hide(at);
            assert_eq!(
                (post.state(at), post.hidden_at, post.is_shown()),
                (PostState::Hidden, Some(NOW), false)
            );
        }
        post.show();
        assert_eq!((post.state(NOW), post.published_at), (PostState::Published, Some(NOW)));
        assert!(post.is_shown());
    }

    #[test]
    fn both_texts_are_needed_in_the_default_locale() {
        let refused = post(" ", "").check(Locale::EN).unwrap_err();
        assert_eq!(refused.description(), "Title cannot be blank. Body cannot be blank");
        post("A", "B").check(Locale::EN).unwrap();
        let french = post("A", "B").check(Locale::FR).unwrap_err();
        assert_eq!(french.details().len(), 2, "a text in another locale does not count");
        let long = post(&"t".repeat(256), &"b".repeat(65_537)).check(Locale::EN).unwrap_err();
        assert!(long.details().iter().all(|error| error.code == "too_long"));
    }

    #[test]
    fn a_post_is_lost_when_it_is_hidden_deleted_unpublished_or_published_at_another_time() {
        let published = Post { published_at: Some(NOW), ..post("A", "B") };
        let deleted = Post { deleted_at: Some(NOW), ..published.clone() };
        let hidden = Post { hidden_at: Some(NOW), ..published.clone() };
        assert!(published.loses_viewers_in(&deleted) && published.loses_viewers_in(&hidden));
        assert!(!hidden.loses_viewers_in(&deleted) && !hidden.loses_viewers_in(&published));
        assert!(published.loses_viewers_in(&Post { published_at: None, ..published.clone() }));
        assert!(
            published
                .loses_viewers_in(&Post { published_at: Some(NOW + Duration::DAY), ..published.clone() })
        );
        assert!(!published.loses_viewers_in(&Post { updated_at: NOW + Duration::DAY, ..published.clone() }));
        assert!(!deleted.loses_viewers_in(&deleted));
        assert!(!post("A", "B").loses_viewers_in(&published));
        assert!(
            post("A", "B").loses_viewers_in(&Post { deleted_at: Some(NOW), ..post("A", "B") }),
            "by its author"
        );
    }

    #[test]
    fn the_publication_of_a_scheduled_post_is_a_change_when_its_time_has_come() {
        let context = ComponentContext::for_test(ComponentId(1), NOW);
        let later = NOW + Duration::HOUR;
        let post = Post { published_at: Some(later), ..post("A", "B") };
        let detail = PostDetail { id: PostId(1), post, context };
        assert_eq!(detail.changed_at(NOW), NOW);
        assert_eq!(detail.changed_at(later), later);
    }
}
