//! The proposals of an organization: the list, and what the pages of one proposal share.

use super::organization::{self, open_organization};
use crate::admin_request::AdminRequest;
use crate::list::{List, PER_PAGE};
use crate::pages::people::persons::{Accounts, accounts};
use crate::parts::{Badge, Cell, Choice, EmptyState, Field, Head, RowAction, Table};
use crate::records::ComponentChoice;
use crate::reply::Reply;
use civitas_kernel::filter::{Comparison, FilterCondition};
use civitas_kernel::{
    ComponentId, Direction, Error, LocationFilter, Order, OrganizationId, Page, PageRequest, ProposalId,
    Result, StateId,
};
use civitas_organizations::Organization;
use civitas_proposals::{
    HiddenProposals, MAX_STATES, Proposal, ProposalDetail, ProposalField, ProposalFilter, ProposalQuery,
    ProposalState, PublicState,
};
use civitas_spaces::ComponentKind;

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
        let (organization_id, organization) = open_organization(req).await?;
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

    /// The head of the page of the proposal, without tabs.
    fn head(&self, req: &AdminRequest) -> Head {
        organization::head(req, self.organization_id, &self.organization, self.title(req))
            .crumb(req.tr("nav-proposals"), list_path(self.organization_id))
    }

    /// The head of one of the tabs of the proposal.
    pub(crate) fn tab_head(&self, req: &AdminRequest, tab: &str) -> Head {
        let tabs = [
            ("", "proposal-one"),
            ("votes", "votes"),
            ("attachments", "attachments"),
            ("extended_data", "extended-data"),
        ];
        let tabs = tabs.map(|(page, key)| (page, req.tr(key)));
        self.head(req)
            .record_tabs(req.tr("proposal-tabs"), &self.path(), tabs, tab)
            .badges(badges(req, &self.detail))
            .current(self.id.to_string())
    }

    /// The head of a page below the page of the proposal.
    pub(crate) fn subpage_head(&self, req: &AdminRequest, title: String) -> Head {
        Head { title, ..self.head(req).crumb(self.title(req), self.path()) }
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
    if token == WITHDRAWN || ProposalState::BUILT_IN_STATES.contains(&token) {
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

/// What the filters of the list choose.
struct ProposalSearch {
    /// The id of one proposal, hidden ones and drafts included; or words of the title or body.
    text: Option<String>,
    component: Option<ComponentId>,
    /// The token of a state, or [`NO_ANSWER`].
    state: Option<String>,
    is_hidden: bool,
    direction: Direction,
}

impl ProposalSearch {
    /// Declares the filters, and returns what they ask for.
    async fn read(list: &mut List<'_>, organization: OrganizationId) -> Result<Self> {
        let req = list.req;
        let text = list.search("proposals-search");
        let components = ComponentChoice::load(req, organization, ComponentKind::Proposals).await?;
        let component = components.component_filter(list);
        let state = req.query.get("state");
        let chip = state.map(|token| match token {
            NO_ANSWER => list.chip("state", req.tr("proposal-no-answer")),
            token => list.chip("state", state_name(req, token)),
        });
        let choices = state_choices(req, organization, component).await?;
        let field = Field::select("state", req.tr("column-state"), req.query.field_value("state"), choices);
        list.field_with_chip(&field, chip);
        let is_hidden = req.query.get("shown") == Some(HIDDEN);
        let chip = is_hidden.then(|| list.chip("shown", req.tr("proposal-hidden")));
        let choices = [("", "proposals-visible"), (HIDDEN, "proposals-hidden")];
        let choices = choices.map(|(value, key)| Choice::new(value, req.tr(key))).to_vec();
        let field = Field::select("shown", req.tr("visibility"), req.query.field_value("shown"), choices);
        list.field_with_chip(&field, chip);
        let direction = list.order("oldest", ["newest-first", "oldest-first"]);
        Ok(Self { text, component, state: state.map(str::to_owned), is_hidden, direction })
    }

    /// One page of the proposals.
    async fn find(
        &self,
        req: &AdminRequest,
        organization: OrganizationId,
        request: PageRequest,
    ) -> Result<Page<ProposalDetail>> {
        if let Some(id) = self.text.as_deref().and_then(|text| text.parse().ok()) {
            let found = by_id(req, organization, ProposalId(id)).await?;
            return Ok(Page::new(found.into_iter().collect(), false));
        }
        let words = self.text.as_deref().and_then(FilterCondition::words);
        let mut query = unanswered(self.component, self.direction);
        match self.state.as_deref() {
            None => query.filters.clear(),
            Some(NO_ANSWER) => {}
            Some(token) => {
                let condition = FilterCondition::Text(Comparison::Eq(token.to_owned()));
                query.filters = vec![ProposalFilter { field: ProposalField::State, condition }];
            }
        }
        let store = req.store().proposals();
        if self.is_hidden {
            let state = query.filters.pop().map(|filter| filter.condition);
            let (component, direction) = (self.component, self.direction);
            let list = HiddenProposals { component, state, words, direction };
            return store.hidden(organization, &list, request).await;
        }
        let field = ProposalField::SearchText;
        query.filters.extend(words.map(|condition| ProposalFilter { field, condition }));
        store.list(organization::admin_read_context(organization), &query, request).await
    }
}

pub(crate) async fn list(req: &AdminRequest) -> Result<Reply> {
    let (id, organization) = open_organization(req).await?;
    let (path, request) = (list_path(id), req.query.page(PER_PAGE));
    let mut list = List::new(req, "proposals", &path);
    let search = ProposalSearch::read(&mut list, id).await?;
    let page = search.find(req, id, request).await?;
    let ids = page.items.iter().filter_map(|detail| detail.proposal.authors.first()).map(|user| user.0);
    let authors = accounts(req, id, ids.collect()).await?;
    let rows = page.items.iter().map(|detail| row(req, &path, detail, &authors, search.is_hidden));
    let time = if search.is_hidden { "proposal-hidden-at" } else { "proposal-published" };
    let columns = format!("proposal-title proposal-author column-state component-one:low {time} column-acts");
    let none = EmptyState::new(req.tr("proposals-none"), req.tr("proposals-none-lede"));
    let empty = list.empty_state(none, req.tr("proposals-search-hint"));
    let table = Table::new(req.tr("nav-proposals"), req.columns(&columns)).rows(rows).empty(empty);
    let (table, links) = (list.with_order_link(table, 4), list.page_links(request, &page));
    let head = organization::head(req, id, &organization, req.tr("nav-proposals"));
    list.reply(head, &table, &links).await
}

fn row(
    req: &AdminRequest,
    path: &str,
    detail: &ProposalDetail,
    authors: &Accounts,
    is_hidden: bool,
) -> Vec<Cell> {
    let (proposal, href) = (&detail.proposal, format!("{path}/{}", detail.id));
    let title = title(req, detail);
    let author = match proposal.authors.first() {
        None => Cell::muted(&req.tr("proposal-official")),
        Some(id) => {
            authors.get(id).map_or_else(|| Cell::muted(&req.tr("deleted")), |author| Cell::text(&author.name))
        }
    };
    let component = detail.context.name.title(req.translator.locale).unwrap_or_default();
    let time = if is_hidden { proposal.hidden_at } else { proposal.published_at };
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
async fn state_choices(
    req: &AdminRequest,
    organization: OrganizationId,
    component: Option<ComponentId>,
) -> Result<Vec<Choice>> {
    let mut choices = vec![
        Choice::new("", req.tr("all")),
        Choice::new(NO_ANSWER, req.tr("proposal-no-answer")),
        Choice::new(WITHDRAWN, state_name(req, WITHDRAWN)),
    ];
    if let Some(component) = component {
        let found = states_of_component(req, organization, component).await?;
        let name = |state: &ProposalState| {
            state.title.title(req.translator.locale).unwrap_or(&state.token).to_owned()
        };
        choices.extend(found.iter().map(|(_, state)| Choice::new(&state.token, name(state))));
    } else {
        choices
            .extend(ProposalState::BUILT_IN_STATES.map(|token| Choice::new(token, state_name(req, token))));
    }
    Ok(choices)
}
