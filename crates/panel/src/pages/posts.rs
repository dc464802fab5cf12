//! The posts of an organization: the list (contract 07 part A).

use super::content::title;
use super::proposals::authors;
use super::publication::list_path;
use super::publications::{Components, PER_PAGE, head, opened, results, within};
use crate::parts::{Act, Badge, Cell, Chip, Choice, Column, Empty, Html, RowAct, Table};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_accounts::User;
use civitas_blogs::{Post, PostDetail, PostSearch, PostState};
use civitas_kernel::{Direction, Result, UserId};
use civitas_spaces::ComponentManifest;
use std::collections::HashMap;

const STATES: [(&str, PostState); 3] =
    [("published", PostState::Published), ("scheduled", PostState::Scheduled), ("draft", PostState::Draft)];

fn state_name(visit: &Visit, state: PostState) -> String {
    visit.say(match state {
        PostState::Published => "published",
        PostState::Scheduled => "post-scheduled",
        PostState::Draft => "post-draft",
    })
}

/// Whether it is published.
pub(super) fn badge(visit: &Visit, post: &Post) -> Badge {
    let state = post.state(visit.now);
    let name = state_name(visit, state);
    match state {
        PostState::Published => Badge::good(name),
        PostState::Scheduled => Badge::busy(name),
        PostState::Draft => Badge::warn(name),
    }
}

/// The name of the author.
pub(super) fn author(visit: &Visit, post: &Post, authors: &HashMap<UserId, User>) -> String {
    match post.author {
        None => visit.say("post-of-organization"),
        Some(id) => authors.get(&id).map_or_else(|| visit.say("deleted"), |user| user.name.clone()),
    }
}

/// What the filters ask for. Unknown values are left out.
fn search(visit: &Visit) -> PostSearch {
    let state = visit.query.get("state");
    let oldest_first = visit.query.get("sort") == Some("oldest");
    PostSearch {
        text: visit.query.get("q").map(str::to_owned),
        within: within(visit),
        state: STATES.iter().find(|(name, _)| Some(*name) == state).map(|(_, state)| *state),
        direction: if oldest_first { Direction::Ascending } else { Direction::Descending },
    }
}

fn filters(visit: &Visit, components: &Components) -> Html {
    let states = STATES.iter().map(|(name, state)| Choice::new(*name, state_name(visit, *state)));
    visit
        .filters(visit.say("posts-filter"))
        .search(visit.say("publications-search"))
        .field(&components.filter(visit))
        .select("state", visit.say("column-state"), states)
        .sort(visit.say("newest-first"), "oldest", visit.say("oldest-first"))
        .html()
}

/// The filters in use.
fn chips(visit: &Visit, path: &str, search: &PostSearch, components: &Components) -> Vec<Chip> {
    let chip = |name: &str, text: String| visit.chip(path, name, text);
    let chips = [
        search.text.clone().map(|text| chip("q", text)),
        components.chip(visit, path),
        search.state.map(|state| chip("state", state_name(visit, state))),
    ];
    chips.into_iter().flatten().collect()
}

fn row(
    visit: &Visit,
    path: &str,
    detail: &PostDetail,
    authors: &HashMap<UserId, User>,
    components: &Components,
) -> Vec<Cell> {
    let post = &detail.post;
    let (name, own) = (title(visit, &post.title), format!("{path}/{}", detail.id));
    let act = if post.is_published(visit.now) { "unpublish" } else { "publish" };
    let label = if act == "publish" { "post-publish" } else { "unpublish" };
    let acts = [
        RowAct::post(format!("{own}/{act}"), visit.say(label), name.clone(), visit.token()),
        RowAct::link(format!("{own}/edit"), visit.say("edit"), name.clone()),
    ];
    let time = post.published_at.map(|at| visit.time(at)).unwrap_or_default();
    let number = visit.tell("component-id", &[("id", detail.id.to_string().into())]);
    let space = components.space(visit, detail.place.space).unwrap_or_default();
    vec![
        Cell::link(&format!("{own}/edit"), &name, &number),
        Cell::badge_with_sub(&badge(visit, post), &time),
        Cell::text(&author(visit, post, authors)),
        Cell::with_sub(&title(visit, &detail.place.name), &space),
        Cell::text(&visit.date(post.created_at)),
        Cell::acts(&acts),
    ]
}

pub(crate) async fn list(visit: &mut Visit) -> Result<Reply> {
    let (id, organization) = opened(visit).await?;
    let visit = &*visit;
    let (path, search) = (list_path::<Post>(id), search(visit));
    let posts = visit.panel.store().posts();
    let page = posts.search(id, visit.now, &search, visit.query.page(PER_PAGE)).await?;
    let components = Components::load(visit, id, ComponentManifest::Blogs).await?;
    let written_by = page.items.iter().filter_map(|detail| detail.post.author).map(|user| user.0);
    let authors = authors(visit, id, written_by.collect()).await?;
    let rows = page.items.iter().map(|detail| row(visit, &path, detail, &authors, &components));
    let columns = vec![
        Column::new(visit.say("column-title")),
        Column::new(visit.say("column-state")),
        Column::new(visit.say("post-author")),
        Column::new(visit.say("component-one")).low(),
        Column::new(visit.say("column-created")).low(),
        Column::acts(visit.say("column-acts")),
    ];
    let chips = chips(visit, &path, &search, &components);
    let empty = if chips.is_empty() {
        let new = Some((format!("{path}/new"), visit.say("post-new")));
        Empty { title: visit.say("posts-none"), text: visit.say("posts-lede"), act: new }
    } else {
        visit.no_match(&path, visit.say("posts-no-match"))
    };
    let (other, direction) = match search.direction {
        Direction::Ascending => (None, "ascending"),
        Direction::Descending => (Some("oldest"), "descending"),
    };
    let table = Table::new(visit.say("nav-posts"), columns).rows(rows).empty(empty).sorted(
        4,
        visit.query.with(&path, "sort", other),
        Some(direction),
    );
    let results = results(visit, &path, &page, chips, &table);
    let head = head(visit, id, &organization, visit.say("nav-posts"))
        .lede(visit.say("posts-lede"))
        .act(Act::primary(format!("{path}/new"), visit.say("post-new")));
    visit.page(head, Html::join([filters(visit, &components), results])).await
}
