//! The proposals of an organization: the list, and what the pages of one proposal share.

use super::{organization, shared};
use crate::admin_request::AdminRequest;
use crate::pages::people::persons::{Accounts, accounts};
use crate::parts::{Badge, Cell, Choice, EmptyState, Field, Head, RowAction, Table};
use crate::records::{ListFilters, PER_PAGE};
use crate::reply::Reply;
use civitas_kernel::filter::{Comparison, FilterCondition};
use civitas_kernel::{
    ComponentId, Direction, Error, LocationFilter, Order, OrganizationId, Page, ProposalId, Result, StateId,
    Translated,
};
use civitas_organizations::Organization;
use civitas_proposals::{
    HiddenProposals, MAX_STATES, Proposal, ProposalDetail, ProposalField, ProposalFilter, ProposalQuery,
    ProposalState, PublicState,
};
use civitas_spaces::ComponentKind;

/// The most components that the filter lists; above this, the number of the component is typed.
const MAX_COMPONENTS: i64 = 50;
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
    pub(crate) organization_id: OrganizationId,
    /// The organization's record.
    pub(crate) organization: Organization,
    pub(crate) id: ProposalId,
    pub(crate) detail: ProposalDetail,
}

impl OpenedProposal {
    /// The proposal of the path, which is not deleted.
    pub(crate) async fn from_path(req: &AdminRequest) -> Result<Self> {
        let (organization_id, organization) = shared::open_organization_in_zone(req).await?;
        let id = ProposalId(req.path_id("pid")?);
        let detail = by_id(req, organization_id, id).await?.ok_or(Error::NotFound)?;
        Ok(Self { organization_id, organization, id, detail })
    }

    pub(crate) fn proposal(&self) -> &Proposal {
        &self.detail.proposal
    }

    /// The address of its page.
    pub(crate) fn path(&self) -> String {
        self.sibling_path(self.id)
    }

    /// The address of another proposal of the organization.
    pub(crate) fn sibling_path(&self, id: ProposalId) -> String {
        format!("{}/{id}", list_path(self.organization_id))
    }

    /// The title of the proposal in the language of the page.
    pub(crate) fn title(&self, req: &AdminRequest) -> String {
        title(req, &self.detail)
    }

    /// The head of the page of the proposal.
    pub(crate) fn own_head(&self, req: &AdminRequest) -> Head {
        organization::head(req, self.organization_id, &self.organization, self.title(req))
            .crumb(req.tr("nav-proposals"), list_path(self.organization_id))
    }

    /// The head of one of the pages of the proposal.
    pub(crate) fn tabbed_head(&self, req: &AdminRequest, tab: &str) -> Head {
        let tabs = [
            ("", "proposal-one"),
            ("votes", "votes"),
            ("attachments", "attachments"),
            ("extended_data", "extended-data"),
        ];
        let tabs = tabs.map(|(page, key)| (page, req.tr(key)));
        self.own_head(req)
            .record_tabs(req.tr("proposal-tabs"), &self.path(), tabs, tab)
            .badges(badges(req, &self.detail))
            .current(self.id.to_string())
    }

    /// The head of a page below the page of the proposal.
    pub(crate) fn head_below_proposal(&self, req: &AdminRequest, title: String) -> Head {
        Head { title, ..self.own_head(req).crumb(self.title(req), self.path()) }
    }
}

async fn by_id(
    req: &AdminRequest,
    organization: OrganizationId,
    id: ProposalId,
) -> Result<Option<ProposalDetail>> {
    let found = req.store().proposals().detail(organization, id).await?;
    Ok(found.filter(|detail| detail.proposal.deleted_at.is_none()))
}

/// The title in the language of the page; the id where it has none.
fn title(req: &AdminRequest, detail: &ProposalDetail) -> String {
    let title = detail.proposal.title.title(req.translator.locale).filter(|title| !title.trim().is_empty());
    title.map_or_else(|| format!("{} {}", req.tr("proposal-one"), detail.id), str::to_owned)
}

/// The name of a state by its token: the built-in ones in the language of the page, others as they are.
pub(crate) fn state_name(req: &AdminRequest, token: &str) -> String {
    if token == WITHDRAWN || ProposalState::BUILT_IN.contains(&token) {
        req.tr(&format!("state-{}", token.replace('_', "-")))
    } else {
        token.to_owned()
    }
}

/// The states of a proposal: whether it can be seen, and its answer.
pub(crate) fn badges(req: &AdminRequest, detail: &ProposalDetail) -> Vec<Badge> {
    let proposal = &detail.proposal;
    let mut badges = Vec::new();
    if proposal.published_at.is_none() {
        badges.push(Badge::plain(req.tr("proposal-draft")));
    }
    if proposal.hidden_at.is_some() {
        badges.push(Badge::bad(req.tr("proposal-hidden")));
    }
    match &detail.state {
        PublicState::Withdrawn => badges.push(Badge::warn(state_name(req, WITHDRAWN))),
        PublicState::Answered(_, token) => {
            let name = state_name(req, token);
            badges.push(match token.as_str() {
                "accepted" => Badge::good(name),
                "rejected" => Badge::bad(name),
                "evaluating" => Badge::busy(name),
                _ => Badge::plain(name),
            });
        }
        PublicState::None if proposal.state.is_some() => {
            badges.push(Badge::warn(req.tr("proposal-answer-not-public")));
        }
        PublicState::None if proposal.published_at.is_some() => {
            badges.push(Badge::plain(req.tr("proposal-no-answer")));
        }
        PublicState::None => {}
    }
    badges
}

/// The proposals with no public answer, of one component or of all.
pub(crate) fn unanswered(component: Option<ComponentId>, direction: Direction) -> ProposalQuery {
    let condition = FilterCondition::Text(Comparison::Blank(true));
    ProposalQuery {
        within: LocationFilter { component, ..LocationFilter::default() },
        filters: vec![ProposalFilter { field: ProposalField::State, condition }],
        order: Order::Column(direction),
    }
}

/// The requested page of the list. A number as text is the id of one proposal, hidden ones and drafts included; another
/// text is words of the title or body.
async fn find_page(
    req: &AdminRequest,
    organization: OrganizationId,
    direction: Direction,
) -> Result<Page<ProposalDetail>> {
    let text = req.query.get("q");
    if let Some(id) = text.and_then(|text| text.parse().ok()) {
        let found = by_id(req, organization, ProposalId(id)).await?;
        return Ok(Page::new(found.into_iter().collect(), false));
    }
    let words = text.and_then(FilterCondition::words);
    let component = req.query.number("component").map(ComponentId);
    let mut query = unanswered(component, direction);
    match req.query.get("state") {
        None => query.filters.clear(),
        Some(NO_ANSWER) => {}
        Some(token) => {
            let condition = FilterCondition::Text(Comparison::Eq(token.to_owned()));
            query.filters = vec![ProposalFilter { field: ProposalField::State, condition }];
        }
    }
    let (store, request) = (req.store().proposals(), req.query.page(PER_PAGE));
    if is_hidden_list(req) {
        let state = query.filters.pop().map(|filter| filter.condition);
        let list = HiddenProposals { component, state, words, direction };
        return store.hidden(organization, &list, request).await;
    }
    let field = ProposalField::SearchText;
    query.filters.extend(words.map(|condition| ProposalFilter { field, condition }));
    store.list(organization::admin_read_context(organization), &query, request).await
}

/// Whether the list of hidden proposals is asked for.
fn is_hidden_list(req: &AdminRequest) -> bool {
    req.query.get("shown") == Some(HIDDEN)
}

pub(crate) async fn list(req: &AdminRequest) -> Result<Reply> {
    let (id, organization) = shared::open_organization_in_zone(req).await?;
    let path = list_path(id);
    let mut filters = ListFilters::new(req, &path);
    let direction = declare_filters(&mut filters, &path, id).await?;
    let page = find_page(req, id, direction).await?;
    let ids = page.items.iter().filter_map(|detail| detail.proposal.authors.first()).map(|user| user.0);
    let authors = accounts(req, id, ids.collect()).await?;
    let rows = page.items.iter().map(|detail| row(req, &path, detail, &authors));
    let time = if is_hidden_list(req) { "proposal-hidden-at" } else { "proposal-published" };
    let columns = format!("proposal-title proposal-author column-state component-one:low {time} column-acts");
    let columns = req.columns(&columns);
    let empty = if filters.chips.is_empty() {
        EmptyState::new(req.tr("proposals-none"), req.tr("proposals-none-lede"))
    } else {
        let text = req.tr("proposals-search-hint");
        EmptyState { text, ..req.no_match(&path, req.tr("proposals-no-match")) }
    };
    let table = Table::new(req.tr("nav-proposals"), columns).rows(rows).empty(empty);
    let table = filters.sorted(table, 4);
    let pages = req.pagination(&path, req.query.page(PER_PAGE), page.has_more);
    let head =
        organization::head(req, id, &organization, req.tr("nav-proposals")).lede(req.tr("proposals-lede"));
    filters.show("proposals", head, req.row_count_text(page.items.len()), &table, pages).await
}

fn row(req: &AdminRequest, path: &str, detail: &ProposalDetail, authors: &Accounts) -> Vec<Cell> {
    let (proposal, href) = (&detail.proposal, format!("{path}/{}", detail.id));
    let title = title(req, detail);
    let author = match proposal.authors.first() {
        None => Cell::muted(&req.tr("proposal-official")),
        Some(id) => {
            authors.get(id).map_or_else(|| Cell::muted(&req.tr("deleted")), |author| Cell::text(&author.name))
        }
    };
    let component = detail.context.name.title(req.translator.locale).unwrap_or_default();
    let time = if is_hidden_list(req) { proposal.hidden_at } else { proposal.published_at };
    let time = time.map_or_else(|| Cell::muted(&req.tr("never")), |at| Cell::text(&req.date(at)));
    let label = req.tr(if proposal.state.is_some() { "answer-change" } else { "answer-give" });
    let actions = proposal.published_at.map(|_| RowAction::link(format!("{href}#answer"), label, &title));
    vec![
        Cell::link(&href, &title, &format!("{} {}", req.tr("proposal-id"), detail.id)),
        author,
        Cell::badges(&badges(req, detail)),
        Cell::text(component),
        time,
        Cell::actions(actions.as_slice()),
    ]
}

/// The states of a component, by their ids.
pub(crate) async fn states_of_component(
    req: &AdminRequest,
    organization: OrganizationId,
    component: ComponentId,
) -> Result<Vec<(StateId, ProposalState)>> {
    let mut states = req.store().states().list_of_component(organization, component, MAX_STATES).await?;
    states.sort_by_key(|(id, _)| id.0);
    Ok(states)
}

/// The states to filter by: those of the component that is chosen, else the built-in ones.
async fn states(req: &AdminRequest, organization: OrganizationId) -> Result<Vec<Choice>> {
    let mut choices = vec![
        Choice::new("", req.tr("all")),
        Choice::new(NO_ANSWER, req.tr("proposal-no-answer")),
        Choice::new(WITHDRAWN, state_name(req, WITHDRAWN)),
    ];
    if let Some(component) = req.query.number("component") {
        let found = states_of_component(req, organization, ComponentId(component)).await?;
        let name = |state: &ProposalState| {
            state.title.title(req.translator.locale).unwrap_or(&state.token).to_owned()
        };
        choices.extend(found.iter().map(|(_, state)| Choice::new(&state.token, name(state))));
    } else {
        choices.extend(ProposalState::BUILT_IN.map(|token| Choice::new(token, state_name(req, token))));
    }
    Ok(choices)
}

/// The components to filter by.
async fn components(req: &AdminRequest, organization: OrganizationId) -> Result<Field> {
    let reader = organization::admin_read_context(organization);
    let (components, kind) = (req.store().components(), ComponentKind::Proposals);
    let components = components.titled(reader, kind, MAX_COMPONENTS + 1).await?;
    let has_more = components.len() > usize::try_from(MAX_COMPONENTS).unwrap_or(usize::MAX);
    let (label, chosen) = (req.tr("component-one"), req.query.field_value("component"));
    if has_more {
        return Ok(Field::number("component", label, chosen).hint(req.tr("component-number")));
    }
    let name = |texts: &Translated| texts.title(req.translator.locale).unwrap_or_default().to_owned();
    let choices = components.iter().map(|found| {
        let name = format!("{}: {}", name(&found.space_title), name(&found.component.name));
        Choice::new(found.id.to_string(), name)
    });
    let choices = std::iter::once(Choice::new("", req.tr("all"))).chain(choices);
    Ok(Field::select("component", label, chosen, choices.collect()))
}

/// Declares the filters of the list with this address, and returns its order.
async fn declare_filters(
    filters: &mut ListFilters<'_>,
    path: &str,
    organization: OrganizationId,
) -> Result<Direction> {
    let req = filters.req;
    let query = &req.query;
    let chip = |name: &str, text: String| req.chip(path, name, text);
    filters.text("proposals-search");
    let in_use = query.get("component");
    let in_use = in_use.map(|text| chip("component", format!("{} {text}", req.tr("component-one"))));
    filters.field(&components(req, organization).await?, in_use);
    let in_use = query.get("state").map(|token| match token {
        NO_ANSWER => req.tr("proposal-no-answer"),
        token => state_name(req, token),
    });
    let states = states(req, organization).await?;
    let states = Field::select("state", req.tr("column-state"), query.field_value("state"), states);
    filters.field(&states, in_use.map(|text| chip("state", text)));
    let choices = [("", "proposals-visible"), (HIDDEN, "proposals-hidden")];
    let choices = choices.map(|(value, key)| Choice::new(value, req.tr(key))).to_vec();
    let field = Field::select("shown", req.tr("visibility"), query.field_value("shown"), choices);
    filters.field(&field, is_hidden_list(req).then(|| chip("shown", req.tr("proposal-hidden"))));
    Ok(filters.order("oldest", ["newest-first", "oldest-first"]))
}
