//! The pages of meetings (contract 06 §5).

use super::content::{published, title};
use crate::parts::{Act, Badge, Cell, Choice, Head, Html, Section};
use crate::records::{
    Components, EditableRecord, FormInput, FormView, ListFilters, OpenedRecord, RecordAct, RecordPages,
    ShownList, TextField,
};
use crate::visit::Visit;
use civitas_application::Ports;
use civitas_audit::Action;
use civitas_kernel::records::RecordAdmin;
use civitas_kernel::{ComponentId, MeetingId, OrganizationId, Page, PageRequest, Result, Translated};
use civitas_meetings::{
    Audience, Meeting, MeetingAdmin, MeetingSearch, MeetingState, MeetingSummary, MeetingTime,
};
use civitas_organizations::Organization;
use civitas_spaces::ComponentManifest;
use time::OffsetDateTime;

impl EditableRecord for Meeting {
    fn admin<'a>(ports: &'a dyn Ports, home: &Organization) -> Box<dyn RecordAdmin<Self> + 'a> {
        Box::new(MeetingAdmin { store: ports.meetings(), default_locale: home.default_locale })
    }

    fn label(&self, visit: &Visit) -> String {
        title(visit, &self.title)
    }
}

type MeetingAct = RecordAct<Meeting>;

impl RecordPages for Meeting {
    const PATH: &'static str = "meetings";
    const PARAM: &'static str = "mid";
    const COMPONENTS: ComponentManifest = ComponentManifest::Meetings;
    const ACTIONS: [Action; 3] = [Action::MeetingCreated, Action::MeetingUpdated, Action::MeetingDeleted];
    const AFTER_CREATION: Option<&'static str> = Some("meeting-created-next");
    const ACTS: &'static [MeetingAct] = &[
        MeetingAct::new("unpublish", |m, _| m.unpublish(), |m, _| m.published_at.is_some()),
        MeetingAct::new("publish", Meeting::publish, |m, _| m.published_at.is_none()).primary(),
        MeetingAct::new("show", |m, _| m.show(), |m, _| m.hidden_at.is_some()).primary(),
        MeetingAct::new("hide", Meeting::hide, |m, _| m.hidden_at.is_none()),
        MeetingAct::new("withdraw", Meeting::withdraw, |m, _| m.withdrawn_at.is_none())
            .asks(&["shown", "reminder"]),
        MeetingAct::deletion(Meeting::delete, &["gone", "attachments"]),
    ];
    const COLUMNS: &'static [(&'static str, bool)] = &[
        ("column-title", false),
        ("meeting-start", false),
        ("column-state", false),
        ("meeting-audience", true),
        ("component-one", true),
    ];
    const SORTED: usize = 1;
    type Summary = MeetingSummary;

    fn id(number: i64) -> MeetingId {
        MeetingId(number)
    }

    fn blank(component: ComponentId, now: OffsetDateTime) -> Self {
        Self::new(component, Translated::default(), now, now)
    }

    fn component(&self) -> ComponentId {
        self.component
    }

    fn title(&self) -> &Translated {
        &self.title
    }

    fn read(&mut self, input: &mut FormInput<'_>) {
        input.texts("title", &mut self.title);
        input.texts("description", &mut self.description);
        input.time("start_time", &mut self.start_time);
        input.optional_time("end_time", &mut self.end_time);
        if let Some(audience) = input.choice("audience", &Audience::ALL, Audience::as_str) {
            self.set_audience(audience);
        }
    }

    fn sections(&self, form: &FormView<'_>) -> Vec<Section> {
        let visit = form.visit;
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
            Choice::new(audience.as_str(), visit.say(&key)).hint(visit.say(&format!("{key}-hint")))
        });
        let chosen = self.audience().as_str();
        let audience = form.choice("audience", "meeting-audience", chosen, audiences.to_vec());
        let when = form.section("when", "meeting-when").hint(visit.say("meeting-when-hint"));
        vec![
            form.section("meeting", "meeting-one").field(texts),
            when.field(form.html(start)).field(form.html(end)),
            form.section("who", "meeting-audience").field(audience),
        ]
    }

    async fn search(
        filters: &mut ListFilters<'_>,
        components: &Components,
        organization: OrganizationId,
        page: PageRequest,
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
            text: filters.text("publications-search"),
            within: filters.place(components),
            time: filters.choice("time", "meeting-start", &times),
            state: filters.choice("state", "column-state", &states),
            direction: filters.order("earliest", ["meetings-latest-first", "meetings-earliest-first"]),
        };
        let visit = filters.visit;
        visit.panel.store().meetings().search(organization, visit.now, &search, page).await
    }

    async fn rows(list: &ShownList<'_>, summaries: &[MeetingSummary]) -> Result<Vec<Vec<Cell>>> {
        Ok(summaries.iter().map(|meeting| row(list, meeting)).collect())
    }

    async fn complete_head(visit: &Visit, own: &OpenedRecord<Self>, head: Head) -> Result<Head> {
        let meeting = &own.record;
        let facts = [
            ("id", own.id.to_string().into()),
            ("component", title(visit, &own.component.name).into()),
            ("registrations", registrations(meeting).into()),
        ];
        let link = Act::link(format!("{}/registrations", own.path()), visit.say("registered-title"));
        let head = head.lede(visit.tell("meeting-lede", &facts)).act(link);
        let badges = badges(visit, [meeting.published_at, meeting.withdrawn_at, meeting.hidden_at]);
        Ok(badges.into_iter().fold(head, Head::badge))
    }

    fn more_effects(&self, visit: &Visit, act: &str) -> Vec<String> {
        vec![visit.words.count(&format!("meeting-{act}-registrations"), registrations(self))]
    }
}

fn row(list: &ShownList<'_>, meeting: &MeetingSummary) -> Vec<Cell> {
    let visit = list.visit;
    let end = meeting.end_time.map(|end| visit.tell("meeting-until", &[("time", visit.time(end).into())]));
    let badges = badges(visit, [meeting.published_at, meeting.withdrawn_at, meeting.hidden_at]);
    let act = if meeting.published_at.is_some() { "unpublish" } else { "publish" };
    let cells = vec![
        Cell::with_sub(&visit.time(meeting.start_time), &end.unwrap_or_default()),
        Cell::html(Html::join(badges.iter().flat_map(|badge| [badge.html(), Html::text(" ")]))),
        Cell::text(&visit.say(&format!("audience-{}", meeting.audience.as_str()))),
        list.place(&meeting.place.name, meeting.place.space),
    ];
    list.row((meeting.id, &meeting.title), (act, act), cells)
}

/// The number of registered people.
pub(super) fn registrations(meeting: &Meeting) -> i64 {
    i64::try_from(meeting.registrations.len()).unwrap_or(i64::MAX)
}

/// The states of a meeting: whether it can be seen, and whether it takes place.
fn badges(visit: &Visit, [published_at, withdrawn_at, hidden_at]: [Option<OffsetDateTime>; 3]) -> Vec<Badge> {
    let withdrawn = withdrawn_at.map(|_| Badge::warn(visit.say("meeting-withdrawn")));
    let hidden = hidden_at.map(|_| Badge::bad(visit.say("meeting-hidden")));
    let published = published(visit, published_at.is_some());
    std::iter::once(published).chain(withdrawn).chain(hidden).collect()
}
