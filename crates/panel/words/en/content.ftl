# Pages of the content of an organization.
column-id = Id
column-kind = Kind
column-title = Title
published = Published
not-published = Not published
publish = Publish
unpublish = Unpublish
publish-back = To undo it, unpublish it.
unpublish-back = Administrators still see it. To undo it, publish it.
untitled = Without title
visibility = Visibility
visibility-public = Public
visibility-public-hint = Everybody sees it and can take part.
visibility-transparent = Transparent
visibility-transparent-hint = Everybody sees it, only members take part. For assemblies.
visibility-private = Private
visibility-private-hint = Only members see it and take part. For processes and assemblies.

# Spaces.
spaces = Spaces
spaces-caption = Spaces of { $organization }
spaces-filter = Filter spaces
spaces-lede = Processes, assemblies, conferences and initiatives. The newest are first.
spaces-none = No spaces yet
spaces-no-match = No space matches
spaces-pages = Pages of spaces
spaces-search = Title or slug
space-participatory-processes = Process
space-assemblies = Assembly
space-conferences = Conference
space-initiatives = Initiative
space-new = New space
space-new-lede = The space is not published at first.
space-create = Create the space
space-created = { $name } is created.
space-created-next = It is not published yet. Add components, then publish it.
space-kind-hint = It cannot be changed later. Only processes have steps.
space-identity = Texts
space-subtitle = Subtitle
space-short-description = Short description
space-slug = Slug
space-slug-hint = The name in filters of the interface. Each kind has it once.
space-who = Who sees it
space-who-hint = While the space is not published, participants do not see it.
space-tabs = Space
space-tab-content = Steps and components
space-tab-edit = Texts and visibility
space-lede = { $kind }, id { $id }
space-save = Save the space
space-saved = { $name } is saved.
space-published = { $name } is published.
space-unpublished = { $name } is not published now.
problem-slug-of-initiative = Leave it empty: the slug of an initiative is made of its number.
problem-visibility = Spaces of this kind cannot have this visibility.

# Steps of processes.
step = Step
steps = Steps
steps-none = No steps yet
steps-none-lede = Steps change what is possible in the components of the process.
steps-dates-hint = The dates are information only: a step becomes active when somebody activates it.
step-add = Add a step
step-place = Step { $place }
step-active = Active step
step-active-now = active
step-is-active = Active
step-is-past = Past
step-is-coming = Not yet
step-none-active = none active
step-from = from { $date }
step-until = until { $date }
step-undated = without dates
step-new = New step
step-new-lede = The step is not active at first.
step-create = Create the step
step-created = { $name } is created.
step-save = Save the step
step-saved = { $name } is saved.
step-order = Place among the steps
step-order-hint = 1: the first
step-dates = Dates
step-starts = Begins
step-ends = Ends
problem-time = Enter a date with a time.
problem-step-active = The active step cannot be deleted. Activate another one first.
step-activate = Activate…
step-activate-button = Activate the step
step-activate-title = Activate { $name }?
step-activate-ends = { $name } is no longer the active step
step-activate-component = { $name }: { $changes }
step-activate-nothing = No component has other settings in this step
step-activate-receivers = { $count ->
    [one] 1 webhook registration receives the event
   *[other] { $count } webhook registrations receive the event
}
step-activate-stays = Proposals, votes and all other records stay as they are. Another step can be activated later; that is a new event.
step-activated = { $name } is now the active step.
step-activated-text = { $components }, { $registrations }.
components-changed = { $count ->
    [one] The settings of 1 component changed
   *[other] The settings of { $count } components changed
}
registrations-receive = { $count ->
    [one] 1 webhook registration receives the event
   *[other] { $count } webhook registrations receive the event
}
step-already-active = { $name } is already the active step. Nothing was changed.
step-delete-lede = The settings of components for this step go with it.
step-delete-effect = The step is removed from the process
step-delete-components = { $count ->
    [one] 1 component loses its settings for the step
   *[other] { $count } components lose their settings for the step
}
step-delete-stays = The step is not active, so nothing changes for participants.
step-delete-button = Delete the step
step-deleted = { $name } is deleted.

# Components.
components = Components
components-caption = Components of { $space } in their order
components-none = No components yet
components-none-lede = A component holds proposals, meetings, posts or other records of the space.
component-add = Add a component
component-new-type = Type of the new component
component-type = Type
component-id = id { $id }
component-records = Records
component-in-step = In step { $step }
component-now = Now
component-same = same in all steps
component-defaults = default settings
component-pages = Page
component-proposals = Proposals
component-meetings = Meetings
component-budgets = Budgets
component-surveys = Survey
component-accountability = Accountability
component-debates = Debates
component-blogs = Blog
component-awesome-map = Map
component-awesome-iframe = Frame
component-new = New component: { $kind }
component-new-lede = The component is not published at first.
component-create = Create the component
component-created = { $name } is created.
component-created-next = It is not published yet.
component-lede = Component { $id }. Saved settings apply from the next request.
component-published = { $name } is published.
component-unpublished = { $name } is not published now.
component-delete-lede = The component and its records disappear from the interface at once.
component-delete-effect = The component disappears from the interface at once
component-delete-records = { $count ->
    [one] 1 record in it disappears with it
   *[other] { $count } records in it disappear with it
}
component-delete-many-records = More than { $count } records in it disappear with it
component-delete-stays = The space and its other components stay.
component-delete-name = Type the name of the component to confirm
component-delete-button = Delete the component
component-deleted = { $name } is deleted.

# Settings of components.
component-section-name = Name and announcement
component-section-phases = What is possible in each step
component-section-phases-hint = The column of the active step applies now. “Without steps” applies while no step is active.
component-section-writing = Writing proposals
component-section-voting = Voting
component-section-registration = Registration
component-section-other = Comments and order
component-setting = Setting
component-without-steps = Without steps
setting-in-step = { $setting } – { $step }
setting-becomes = { $setting } → { $value }
setting-is-off = { $setting }: off
problem-setting = Enter 0 or more, or choose one of the values offered.
component-setting-scopes-enabled = Scopes
component-setting-global-announcement = Announcement
component-setting-global-announcement-hint = Shown above the records. Empty: none.
component-setting-default-registration-terms = Terms of registration
component-setting-default-registration-terms-hint = For meetings without terms of their own.
component-setting-comments-enabled = Comments
component-setting-comments-max-length = Longest comment
component-setting-comments-max-length-hint = In characters. Empty: as the organization
component-setting-registration-code-enabled = Registration codes
component-setting-creation-enabled-for-participants = Participants can create meetings
component-setting-creation-enabled-for-participants-hint = Clients of the interface read it.
component-setting-amendments-enabled = Amendments
component-setting-attachments-allowed = Attachments
component-setting-default-sort-order = Order of the proposals
component-setting-default-sort-order-default = Default
component-setting-default-sort-order-random = Random
component-setting-default-sort-order-recent = Newest first
component-setting-default-sort-order-most-voted = Most votes
component-setting-default-sort-order-most-endorsed = Most endorsed
component-setting-default-sort-order-most-commented = Most comments
component-setting-default-sort-order-most-followed = Most followed
component-setting-default-sort-order-with-more-authors = Most authors
component-setting-default-sort-order-automatic = Automatic
component-setting-geocoding-enabled = Places on a map
component-setting-minimum-votes-per-user = Votes needed before they count
component-setting-minimum-votes-per-user-hint = 0: each counts at once
component-setting-official-proposals-enabled = Official proposals of the organization
component-setting-participatory-texts-enabled = Participatory texts
component-setting-proposal-edit-time = Authors can edit
component-setting-proposal-edit-time-limited = For some minutes after publishing
component-setting-proposal-edit-time-infinite = At any time
component-setting-proposal-edit-before-minutes = Minutes to edit
component-setting-proposal-edit-before-minutes-hint = After publishing, if the time is limited
component-setting-proposal-limit = Proposals for each person
component-setting-proposal-limit-hint = 0: no limit
component-setting-proposal-length = Longest text
component-setting-proposal-length-hint = In characters
component-setting-resources-permissions-enabled = Permissions for single proposals
component-setting-threshold-per-proposal = Votes a proposal can have
component-setting-threshold-per-proposal-hint = 0: no limit
component-setting-vote-limit = Votes for each person
component-setting-vote-limit-hint = 0: no limit
component-setting-awesome-voting-manifest = Kind of vote
component-setting-awesome-voting-manifest-none = One vote for a proposal
component-setting-awesome-voting-manifest-voting-cards = Cards: red, yellow, green
component-setting-voting-cards-show-abstain = Abstention is possible
component-setting-voting-cards-show-modal-help = Explain the cards before the first vote
component-setting-voting-cards-box-title = Title of the cards
component-setting-voting-cards-instructions = Instructions of the cards
component-setting-can-accumulate-votes-beyond-threshold = Votes beyond that are accepted
component-setting-votes-enabled = Votes are open
component-setting-votes-enabled-hint = Participants see votes and can cast them
component-setting-creation-enabled = Proposals can be published
component-setting-proposal-answering-enabled = Proposals can be answered
component-setting-amendment-creation-enabled = Amendments can be written
component-setting-amendment-reaction-enabled = Amendments can be accepted
component-setting-amendment-promotion-enabled = Amendments can become proposals
component-setting-endorsements-enabled = Endorsements
component-setting-votes-blocked = Votes are closed but shown
component-setting-votes-blocked-hint = Nobody can vote or take a vote back
component-setting-votes-enabled-by-status = Only proposals in the states below can be voted on
component-setting-votes-enabled-by-status-hint = Without states below, none can be voted on
component-setting-votes-enabled-states = States that can be voted on
component-setting-votes-enabled-states-hint = One token a line: not_answered, evaluating, accepted, rejected, or a state of the component
