//! The proposals of an organization: the list, and what the pages of one proposal share.

use super::{content, organization};
use crate::parts::{Badge, Cell, Choice, Column, Empty, Field, Head, Html, RowAct, Table};
use crate::records::{ListFilters, PER_PAGE};
use crate::reply::Reply;
use crate::visit::Visit;
use civitas_accounts::{User, UserField, UserFilter};
use civitas_kernel::filter::{Condition, Is};
use civitas_kernel::{
    ComponentId, Direction, Error, Order, OrganizationId, Page, PageRequest, ProposalId, Result, Translated,
    UserId, Within,
};
use civitas_organizations::Organization;
use civitas_proposals::{
    HiddenProposals, MOST_STATES, Proposal, ProposalDetail, ProposalField, ProposalFilter, ProposalQuery,
    ProposalState, PublicState,
};
use civitas_spaces::ComponentManifest;
use std::collections::HashMap;

/// The most components that the filter lists; above this, the number of the component is typed.
const MOST_COMPONENTS: i64 = 50;
/// The value of the filter for proposals without public answer.
const NO_ANSWER: &str = "blank";
const WITHDRAWN: &str = "withdrawn";
/// The value of the filter for hidden proposals.
const HIDDEN: &str = "hidden";

/// The address of the list.
pub(crate) fn list_path(organization: OrganizationId) -> String {
    format!("{}/{organization}/proposals", organization::LIST)
}

/// A proposal of the organization in the path, visible or not.
pub(crate) struct OpenedProposal {
    pub(crate) organization: OrganizationId,
    /// The organization's record.
    pub(crate) home: Organization,
    pub(crate) id: ProposalId,
    pub(crate) detail: ProposalDetail,
}

impl OpenedProposal {
    /// The proposal of the path, which is not deleted.
    pub(crate) async fn of(visit: &Visit) -> Result<Self> {
        let (organization, home) = organization::organization(visit).await?;
        let id = ProposalId(visit.id("pid")?);
        let detail = by_id(visit, organization, id).await?.ok_or(Error::NotFound)?;
        Ok(Self { organization, home, id, detail })
    }

    pub(crate) fn proposal(&self) -> &Proposal {
        &self.detail.proposal
    }

    /// The address of its page.
    pub(crate) fn path(&self) -> String {
        self.beside(self.id)
    }

    /// The address of another proposal of the organization.
    pub(crate) fn beside(&self, id: ProposalId) -> String {
        format!("{}/{id}", list_path(self.organization))
    }

    /// Its title in the language of the page.
    pub(crate) fn title(&self, visit: &Visit) -> String {
        title(visit, &self.detail)
    }

    /// The head of the page of the proposal.
    pub(crate) fn own_head(&self, visit: &Visit) -> Head {
        organization::head(visit, self.organization, &self.home, self.title(visit))
            .crumb(visit.say("nav-proposals"), list_path(self.organization))
    }

    /// The head of one of the pages of the proposal.
    pub(crate) fn tabbed_head(&self, visit: &Visit, tab: &str) -> Head {
        let tabs = [
            ("", "proposal-one"),
            ("votes", "votes"),
            ("attachments", "attachments"),
            ("extended_data", "extended-data"),
        ];
        let tabs = tabs.map(|(page, key)| (page, visit.say(key)));
        self.own_head(visit)
            .tabs_of(visit.say("proposal-tabs"), &self.path(), tabs, tab)
            .badges(badges(visit, &self.detail))
            .here(self.id.to_string())
    }

    /// The head of a page below the page of the proposal.
    pub(crate) fn head(&self, visit: &Visit, title: String) -> Head {
        Head { title, ..self.own_head(visit).crumb(self.title(visit), self.path()) }
    }
}

async fn by_id(
    visit: &Visit,
    organization: OrganizationId,
    id: ProposalId,
) -> Result<Option<ProposalDetail>> {
    let found = visit.panel.store().proposals().detail(organization, id).await?;
    Ok(found.filter(|detail| detail.proposal.deleted_at.is_none()))
}

/// The title in the language of the page; the id where it has none.
fn title(visit: &Visit, detail: &ProposalDetail) -> String {
    let title = detail.proposal.title.title(visit.words.locale).filter(|title| !title.trim().is_empty());
    title.map_or_else(|| format!("{} {}", visit.say("proposal-one"), detail.id), str::to_owned)
}

/// The name of a state by its token: the built-in ones in the language of the page, others as they are.
pub(crate) fn state_name(visit: &Visit, token: &str) -> String {
    if token == WITHDRAWN || ProposalState::BUILT_IN.contains(&token) {
        visit.say(&format!("state-{}", token.replace('_', "-")))
    } else {
        token.to_owned()
    }
}

/// The states of a proposal: whether it can be seen, and its answer.
pub(crate) fn badges(visit: &Visit, detail: &ProposalDetail) -> Vec<Badge> {
    let proposal = &detail.proposal;
    let mut badges = Vec::new();
    if proposal.published_at.is_none() {
        badges.push(Badge::plain(visit.say("proposal-draft")));
    }
    if proposal.hidden_at.is_some() {
        badges.push(Badge::bad(visit.say("proposal-hidden")));
    }
    match &detail.state {
        PublicState::Withdrawn => badges.push(Badge::warn(state_name(visit, WITHDRAWN))),
        PublicState::Answered(_, token) => {
            let name = state_name(visit, token);
            badges.push(match token.as_str() {
                "accepted" => Badge::good(name),
                "rejected" => Badge::bad(name),
                "evaluating" => Badge::busy(name),
                _ => Badge::plain(name),
            });
        }
        PublicState::None if proposal.state.is_some() => {
            badges.push(Badge::warn(visit.say("proposal-answer-not-public")));
        }
        PublicState::None if proposal.published_at.is_some() => {
            badges.push(Badge::plain(visit.say("proposal-no-answer")));
        }
        PublicState::None => {}
    }
    badges
}

/// The accounts of these authors; those of deleted ones are left out.
pub(crate) async fn authors(
    visit: &Visit,
    organization: OrganizationId,
    mut ids: Vec<i64>,
) -> Result<HashMap<UserId, User>> {
    ids.sort_unstable();
    ids.dedup();
    ids.truncate(usize::try_from(PageRequest::MAX_LENGTH).unwrap_or_default());
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let filter = UserFilter { field: UserField::Id, condition: Condition::Integer(Is::In(ids)) };
    let request = PageRequest::of(1, PageRequest::MAX_LENGTH);
    let page = visit.panel.store().users().list(organization, &[filter], request).await?;
    Ok(page.items.into_iter().collect())
}

/// The proposals with no public answer, of one component or of all.
pub(crate) fn unanswered(component: Option<ComponentId>, direction: Direction) -> ProposalQuery {
    let condition = Condition::Text(Is::Blank(true));
    ProposalQuery {
        within: Within { component, ..Within::default() },
        filters: vec![ProposalFilter { field: ProposalField::State, condition }],
        order: Order::Column(direction),
    }
}

/// The page of the list that is asked for. A number as text is the id of one proposal, hidden ones and drafts included; another
/// text is words of the title or body.
async fn found(
    visit: &Visit,
    organization: OrganizationId,
    direction: Direction,
) -> Result<Page<ProposalDetail>> {
    let text = visit.query.get("q");
    if let Some(id) = text.and_then(|text| text.parse().ok()) {
        let found = by_id(visit, organization, ProposalId(id)).await?;
        return Ok(Page::of(found.into_iter().collect(), false));
    }
    let words = text.and_then(Condition::words);
    let component = visit.query.number("component").map(ComponentId);
    let mut query = unanswered(component, direction);
    match visit.query.get("state") {
        None => query.filters.clear(),
        Some(NO_ANSWER) => {}
        Some(token) => {
            let condition = Condition::Text(Is::Eq(token.to_owned()));
            query.filters = vec![ProposalFilter { field: ProposalField::State, condition }];
        }
    }
    let (store, request) = (visit.panel.store().proposals(), visit.query.page(PER_PAGE));
    if is_hidden_list(visit) {
        let state = query.filters.pop().map(|filter| filter.condition);
        let list = HiddenProposals { component, state, words, direction };
        return store.hidden(organization, &list, request).await;
    }
    let field = ProposalField::SearchText;
    query.filters.extend(words.map(|condition| ProposalFilter { field, condition }));
    store.list(organization::as_administrator(organization), &query, request).await
}

/// Whether the list of hidden proposals is asked for.
fn is_hidden_list(visit: &Visit) -> bool {
    visit.query.get("shown") == Some(HIDDEN)
}

pub(crate) async fn list(visit: &mut Visit) -> Result<Reply> {
    let (id, home) = content::opened(visit).await?;
    let (visit, path) = (&*visit, list_path(id));
    let mut filters = ListFilters::new(visit, &path);
    let direction = filter(&mut filters, &path, id).await?;
    let page = found(visit, id, direction).await?;
    let ids = page.items.iter().filter_map(|detail| detail.proposal.authors.first()).map(|user| user.0);
    let authors = authors(visit, id, ids.collect()).await?;
    let is_hidden = is_hidden_list(visit);
    let rows = page.items.iter().map(|detail| row(visit, &path, detail, &authors));
    let columns = vec![
        Column::new(visit.say("proposal-title")),
        Column::new(visit.say("proposal-author")),
        Column::new(visit.say("column-state")),
        Column::new(visit.say("component-one")).low(),
        Column::new(visit.say(if is_hidden { "proposal-hidden-at" } else { "proposal-published" })),
        Column::acts(visit.say("column-acts")),
    ];
    let chips = std::mem::take(&mut filters.chips);
    let empty = if chips.is_empty() {
        Empty { title: visit.say("proposals-none"), text: visit.say("proposals-none-lede"), act: None }
    } else {
        let text = visit.say("proposals-search-hint");
        Empty { text, ..visit.no_match(&path, visit.say("proposals-no-match")) }
    };
    let table = Table::new(visit.say("nav-proposals"), columns).rows(rows).empty(empty);
    let table = filters.sorted(table, 4);
    let pages = visit.pages(&path, visit.query.page(PER_PAGE), page.has_more);
    let results = visit.results(&path, (visit.shown(page.items.len()), chips), &table, pages);
    let head =
        organization::head(visit, id, &home, visit.say("nav-proposals")).lede(visit.say("proposals-lede"));
    visit.page(head, Html::join([filters.html("proposals-filter"), results])).await
}

fn row(visit: &Visit, path: &str, detail: &ProposalDetail, authors: &HashMap<UserId, User>) -> Vec<Cell> {
    let (proposal, own) = (&detail.proposal, format!("{path}/{}", detail.id));
    let title = title(visit, detail);
    let author = match proposal.authors.first() {
        None => Cell::soft(&visit.say("proposal-official")),
        Some(id) => authors
            .get(id)
            .map_or_else(|| Cell::soft(&visit.say("deleted")), |author| Cell::text(&author.name)),
    };
    let component = detail.place.name.title(visit.words.locale).unwrap_or_default();
    let time = if is_hidden_list(visit) { proposal.hidden_at } else { proposal.published_at };
    let time = time.map_or_else(|| Cell::soft(&visit.say("never")), |at| Cell::text(&visit.date(at)));
    let label = visit.say(if proposal.state.is_some() { "answer-change" } else { "answer-give" });
    let acts = proposal.published_at.map(|_| RowAct::link(format!("{own}#answer"), label, &title));
    vec![
        Cell::link(&own, &title, &format!("{} {}", visit.say("proposal-id"), detail.id)),
        author,
        Cell::badges(&badges(visit, detail)),
        Cell::text(component),
        time,
        Cell::acts(acts.as_slice()),
    ]
}

/// The states to filter by: those of the component that is chosen, else the built-in ones.
async fn states(visit: &Visit, organization: OrganizationId) -> Result<Vec<Choice>> {
    let mut choices = vec![
        Choice::new("", visit.say("all")),
        Choice::new(NO_ANSWER, visit.say("proposal-no-answer")),
        Choice::new(WITHDRAWN, state_name(visit, WITHDRAWN)),
    ];
    if let Some(component) = visit.query.number("component") {
        let states = visit.panel.store().states();
        let mut own = states.of_component(organization, ComponentId(component), MOST_STATES).await?;
        own.sort_by_key(|(id, _)| id.0);
        let name =
            |state: &ProposalState| state.title.title(visit.words.locale).unwrap_or(&state.token).to_owned();
        choices.extend(own.iter().map(|(_, state)| Choice::new(&state.token, name(state))));
    } else {
        choices.extend(ProposalState::BUILT_IN.map(|token| Choice::new(token, state_name(visit, token))));
    }
    Ok(choices)
}

/// The components to filter by.
async fn components(visit: &Visit, organization: OrganizationId) -> Result<Field> {
    let reader = organization::as_administrator(organization);
    let (components, kind) = (visit.panel.store().components(), ComponentManifest::Proposals);
    let components = components.titled(reader, kind, MOST_COMPONENTS + 1).await?;
    let has_more = components.len() > usize::try_from(MOST_COMPONENTS).unwrap_or(usize::MAX);
    let (label, chosen) = (visit.say("component-one"), visit.query.shown("component"));
    if has_more {
        return Ok(Field::number("component", label, chosen).hint(visit.say("component-number")));
    }
    let name = |texts: &Translated| texts.title(visit.words.locale).unwrap_or_default().to_owned();
    let choices = components.iter().map(|found| {
        let name = format!("{}: {}", name(&found.space_title), name(&found.component.name));
        Choice::new(found.id.to_string(), name)
    });
    let choices = std::iter::once(Choice::new("", visit.say("all"))).chain(choices);
    Ok(Field::select("component", label, chosen, choices.collect()))
}

/// Declares the filters of the list with this address, and returns its order.
async fn filter(
    filters: &mut ListFilters<'_>,
    path: &str,
    organization: OrganizationId,
) -> Result<Direction> {
    let visit = filters.visit;
    let query = &visit.query;
    let chip = |name: &str, text: String| visit.chip(path, name, text);
    filters.text("proposals-search");
    let in_use = query.get("component");
    let in_use = in_use.map(|text| chip("component", format!("{} {text}", visit.say("component-one"))));
    filters.field(&components(visit, organization).await?, in_use);
    let in_use = query.get("state").map(|token| match token {
        NO_ANSWER => visit.say("proposal-no-answer"),
        token => state_name(visit, token),
    });
    let states = states(visit, organization).await?;
    let states = Field::select("state", visit.say("column-state"), query.shown("state"), states);
    filters.field(&states, in_use.map(|text| chip("state", text)));
    let shown = [("", "proposals-visible"), (HIDDEN, "proposals-hidden")];
    let shown = shown.map(|(value, key)| Choice::new(value, visit.say(key))).to_vec();
    let shown = Field::select("shown", visit.say("visibility"), query.shown("shown"), shown);
    filters.field(&shown, is_hidden_list(visit).then(|| chip("shown", visit.say("proposal-hidden"))));
    Ok(filters.order("oldest", ["newest-first", "oldest-first"]))
}
