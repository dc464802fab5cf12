//! The pages of meetings (contract 06 §5).

use crate::admin_request::AdminRequest;
use crate::list::List;
use crate::parts::{Badge, Cell, Choice, Head, Html, PageAction, Section};
use crate::records::{
    AuditActions, ComponentChoice, EditableRecord, FormInput, FormView, OpenedRecord, RecordAction,
    RecordPages, RowContext, TextField, publication_action,
};
use crate::translated::title;
use civitas_application::Ports;
use civitas_audit::Action;
use civitas_kernel::records::RecordAdministration;
use civitas_kernel::{ComponentId, MeetingId, OrganizationId, Page, PageRequest, Result, Translated};
use civitas_meetings::{
    Audience, Meeting, MeetingAdministration, MeetingSearch, MeetingState, MeetingSummary, MeetingTime,
};
use civitas_organizations::Organization;
use civitas_spaces::ComponentKind;
use time::OffsetDateTime;

impl EditableRecord for Meeting {
    fn admin<'a>(
        ports: &'a dyn Ports,
        organization: &Organization,
    ) -> Box<dyn RecordAdministration<Self> + 'a> {
        Box::new(MeetingAdministration {
            store: ports.meetings(),
            default_locale: organization.default_locale,
        })
    }

    fn label(&self, req: &AdminRequest) -> String {
        title(req, &self.title)
    }
}

type MeetingAction = RecordAction<Meeting>;

impl RecordPages for Meeting {
    const PATH: &'static str = "meetings";
    const PARAM: &'static str = "mid";
    const COMPONENT_KIND: ComponentKind = ComponentKind::Meetings;
    const AUDIT_ACTIONS: AuditActions = AuditActions {
        created: Action::MeetingCreated,
        updated: Action::MeetingUpdated,
        deleted: Action::MeetingDeleted,
    };
    const AFTER_CREATION: Option<&'static str> = Some("meeting-created-next");
    const ACTIONS: &'static [MeetingAction] = &[
        MeetingAction::new("unpublish", |m, _| m.unpublish(), |m, _| m.published_at.is_some()),
        MeetingAction::new("publish", Meeting::publish, |m, _| m.published_at.is_none()).primary(),
        MeetingAction::new("show", |m, _| m.show(), |m, _| m.hidden_at.is_some()).primary(),
        MeetingAction::new("hide", Meeting::hide, |m, _| m.hidden_at.is_none()),
        MeetingAction::new("withdraw", Meeting::withdraw, |m, _| m.withdrawn_at.is_none())
            .with_confirmation(&["shown", "reminder"]),
        MeetingAction::deletion(Meeting::delete, &["gone", "attachments"]),
    ];
    const COLUMNS: &'static str =
        "column-title meeting-start column-state meeting-audience:low component-one:low column-acts";
    const SORTED: usize = 1;
    const ID: fn(i64) -> MeetingId = MeetingId;
    const COMPONENT: fn(&Self) -> ComponentId = |meeting| meeting.component;
    const TITLE: fn(&Self) -> &Translated = |meeting| &meeting.title;
    type Summary = MeetingSummary;

    fn blank(component: ComponentId, now: OffsetDateTime) -> Self {
        Self::new(component, Translated::default(), now, now)
    }

    fn read_form(&mut self, input: &mut FormInput<'_>) {
        input.read_texts("title", &mut self.title);
        input.read_texts("description", &mut self.description);
        input.read_time("start_time", &mut self.start_time);
        input.read_optional_time("end_time", &mut self.end_time);
        if let Some(audience) = input.read_choice("audience", &Audience::ALL, Audience::as_str) {
            self.set_audience(audience);
        }
    }

    fn sections(&self, form: &FormView<'_>) -> Vec<Section> {
        let req = form.req;
        let texts = form.texts(
            "meeting-texts",
            &[
                TextField::line("title", "column-title", &self.title),
                TextField::html("description", "description", &self.description, 8),
            ],
        );
        // The start of a new meeting is not suggested.
        let start = (!form.is_new).then_some(self.start_time);
        let start = form.time("start_time", "meeting-start", start).class("medium").required();
        let end = form.time("end_time", "meeting-end", self.end_time).class("medium").optional();
        let audiences = Audience::ALL.map(|audience| {
            let key = format!("audience-{}", audience.as_str());
            Choice::new(audience.as_str(), req.tr(&key)).hint(req.tr(&format!("{key}-hint")))
        });
        let chosen = self.audience().as_str();
        let audience = form.choice("audience", "meeting-audience", chosen, audiences.to_vec());
        let when = form.section("when", "meeting-when").hint(req.tr("meeting-when-hint"));
        vec![
            form.section("meeting", "meeting-one").field(texts),
            when.field(form.html(start)).field(form.html(end)),
            form.section("who", "meeting-audience").field(audience),
        ]
    }

    async fn search(
        list: &mut List<'_>,
        components: &ComponentChoice,
        organization: OrganizationId,
        request: PageRequest,
    ) -> Result<Page<MeetingSummary>> {
        let times = [
            ("upcoming", "meeting-upcoming", MeetingTime::Upcoming),
            ("past", "meeting-past", MeetingTime::Past),
        ];
        let states = [
            ("published", "published", MeetingState::Published),
            ("not-published", "not-published", MeetingState::Unpublished),
            ("withdrawn", "meeting-withdrawn", MeetingState::Withdrawn),
            ("hidden", "meeting-hidden", MeetingState::Hidden),
        ];
        let search = MeetingSearch {
            text: list.search("publications-search"),
            within: components.location_filter(list),
            time: list.choice("time", "meeting-start", &times),
            state: list.choice("state", "column-state", &states),
            direction: list.order("earliest", ["meetings-latest-first", "meetings-earliest-first"]),
        };
        let req = list.req;
        req.store().meetings().search(organization, req.now, &search, request).await
    }

    async fn rows(context: &RowContext<'_>, summaries: &[MeetingSummary]) -> Result<Vec<Vec<Cell>>> {
        Ok(summaries.iter().map(|meeting| row(context, meeting)).collect())
    }

    async fn complete_head(req: &AdminRequest, opened: &OpenedRecord<Self>, head: Head) -> Result<Head> {
        let meeting = &opened.record;
        let facts = [
            ("id", opened.id.to_string().into()),
            ("component", title(req, &opened.component.name).into()),
            ("registrations", meeting.registrations.len().into()),
        ];
        let link = PageAction::link(format!("{}/registrations", opened.path()), req.tr("registered-title"));
        let head = head.lede(req.tr_args("meeting-lede", &facts)).action(link);
        let badges = badges(req, [meeting.published_at, meeting.withdrawn_at, meeting.hidden_at]);
        Ok(badges.into_iter().fold(head, Head::badge))
    }

    fn more_effects(&self, req: &AdminRequest, action: &str) -> Vec<String> {
        vec![req.tr_count(&format!("meeting-{action}-registrations"), self.registrations.len())]
    }
}

fn row(context: &RowContext<'_>, meeting: &MeetingSummary) -> Vec<Cell> {
    let req = context.req;
    let end = meeting.end_time.map(|end| req.tr_with("meeting-until", "time", req.time(end)));
    let badges = badges(req, [meeting.published_at, meeting.withdrawn_at, meeting.hidden_at]);
    let action = publication_action(meeting.published_at.is_some());
    let cells = vec![
        Cell::with_subtext(&req.time(meeting.start_time), &end.unwrap_or_default()),
        Cell::html(Html::join(badges.iter().flat_map(|badge| [badge.html(), Html::text(" ")]))),
        Cell::text(&req.tr(&format!("audience-{}", meeting.audience.as_str()))),
        context.component(&meeting.context.name, meeting.context.space),
    ];
    context.row(&meeting.id, &meeting.title, action, action, cells)
}

/// The states of a meeting: whether it can be seen, and whether it takes place.
fn badges(
    req: &AdminRequest,
    [published_at, withdrawn_at, hidden_at]: [Option<OffsetDateTime>; 3],
) -> Vec<Badge> {
    let withdrawn = withdrawn_at.map(|_| Badge::warn(req.tr("meeting-withdrawn")));
    let hidden = hidden_at.map(|_| Badge::bad(req.tr("meeting-hidden")));
    let published = Badge::published(&req.translator, published_at.is_some());
    std::iter::once(published).chain(withdrawn).chain(hidden).collect()
}
