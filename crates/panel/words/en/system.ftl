# Start page.
attention = Needs attention
attention-badge-failed = Failed
attention-badge-locked = Locked
attention-badge-stopped = Stopped
attention-badge-unknown = Unknown
attention-badge-waiting = Waiting
attention-look = Look at them
attention-none = Nothing needs your attention. Checked at { $time }.
attention-unknown = This could not be checked
attention-disabled-registrations = { $count ->
    [one] 1 webhook registration is disabled
   *[other] { $count } webhook registrations are disabled
}
attention-disabled-registrations-text = Their receivers failed for more than three days, or answered that they are gone. Events for them are not queued.
attention-paused-registrations = { $count ->
    [one] 1 webhook registration is paused
   *[other] { $count } webhook registrations are paused
}
attention-paused-registrations-text = An administrator paused them. Their deliveries wait, at most 30 days.
attention-failed-jobs = { $count ->
    [one] 1 job failed in the last 24 hours
   *[other] { $count } jobs failed in the last 24 hours
}
attention-failed-jobs-text = The client of each job reads the reason there.
attention-dead-deliveries = { $count ->
    [one] 1 delivery was given up
   *[other] { $count } deliveries were given up
}
attention-dead-deliveries-text = All attempts failed. They can be sent again.
attention-waiting-deliveries = { $count ->
    [one] 1 delivery has waited for more than an hour
   *[other] { $count } deliveries have waited for more than an hour
}
attention-waiting-deliveries-text = Their receivers do not answer, or there are more deliveries than the workers can send.
attention-failed-mails = { $count ->
    [one] 1 mail could not be sent yet
   *[other] { $count } mails could not be sent yet
}
attention-failed-mails-text = They are tried again. The log has the answers of the mail server.
attention-pending-hosts = { $count ->
    [one] 1 new host is not confirmed
   *[other] { $count } new hosts are not confirmed
}
attention-pending-hosts-text = The DNS records of the new host do not point here yet. Until they do, the current host stays, and a new secondary host is unknown.
attention-locked-people = { $count ->
    [one] 1 administrator of an organization is locked
   *[other] { $count } administrators of organizations are locked
}
attention-locked-people-text = Too many failed sign-ins. The lock ends by itself.
figures = Figures
figure-components = Components
figure-jobs = Jobs, 24 hours
figure-proposals = Proposals
figure-spaces = Spaces
figure-votes = Votes
recent = Recent changes
recent-none = Nothing was changed yet.
start-lede = { $count ->
    [one] { $date }. One kind of things needs attention.
   *[other] { $date }. { $count } kinds of things need attention.
}

# API clients.
client-card = Client
client-create = Create the client
client-created-next = Nothing is granted yet: choose its permissions below.
client-fixed = Name, organization and scopes are fixed. For other scopes, make a new client and revoke this one.
client-fixed-later = Fixed once it is made.
client-get-token = Get a token
client-get-token-hint = For the client itself
client-held = { $abilities ->
    [one] 1 ability
   *[other] { $abilities } abilities
} and { $events ->
    [one] 1 event
   *[other] { $events } events
}
client-id = Client id
client-last-token = Last token
client-name-hint = Who runs it and what for, such as “Riverton mobile app”.
client-new = New API Client
client-new-lede = The secret is shown on the next page. Permissions are chosen there.
client-one = API client
client-organization-hint = Decides which scopes are offered.
client-public-always = The scope public is always part of it: spaces and components.
client-revoke = Revoke
client-scopes = Scopes
client-scopes-content = Content
client-scopes-hint = They limit what the client can do, and cannot be changed later.
client-scopes-others = People and programs
client-secret = Client secret
client-secret-and-revocation = Secret and revocation
client-secret-kept = Stored as a hash, shown only once
client-secret-lede = Rotating makes a new secret; the old one gets no new tokens from then on, tokens already issued stay valid. Revoking deletes the client with its tokens, permissions and webhooks.
client-tab-details = Details
client-tab-permissions = Permissions
client-tab-webhooks = Webhooks
client-use = Use
client-valid-tokens = Tokens now valid
clients-caption = API clients, newest first
clients-filter = Filter API clients
clients-lede = Programs that use the interface. Each has an id and a secret, belongs to one organization, and may do what its scopes and permissions say.
clients-none = No API clients
clients-pages = Pages of API clients
clients-search = Name or client id
revoke-button = Revoke the client
revoke-link = Revoke the client…
revoke-name = Type the name of the client to confirm
revoke-permissions = { $held } are removed
revoke-registrations = { $count ->
    [0] No webhook registration is deleted
    [one] 1 webhook registration is deleted with its deliveries
   *[other] { $count } webhook registrations are deleted with their deliveries
}
revoke-stays = What the client wrote (proposals, posts, votes) stays.
revoke-title = Revoke { $name }?
revoke-tokens = { $count ->
    [0] No token is valid now
    [one] 1 valid token stops working
   *[other] { $count } valid tokens stop working
}
rotate-button = Rotate the secret
rotate-done = The client has a new secret.
rotate-effect = The current secret gets no new tokens. Programs that have it need the new one.
rotate-here = Rotate the secret
rotate-link = Rotate the secret…
rotate-stays = { $count ->
    [0] No token is valid now.
    [one] 1 token already issued stays valid until it ends.
   *[other] { $count } tokens already issued stay valid until they end.
}
rotate-title = Rotate the secret of { $name }?

# Permissions.
granted-of = { $granted } of { $all } granted
permissions-note = What is ticked applies from the next request, also to tokens already issued. Removing an event keeps the webhook registrations and stops their deliveries of it. A scope whose feature the organization switched off is not listed.
permissions-replace = Replaces the whole set: what is not ticked is removed.
permissions-save = Save permissions
permissions-saved = Permissions saved.
scope-any = works with any scope
scope-auth-type = Sign-in of people
scope-accountability = Results
scope-attachments = Attachments
scope-blogs = Blog posts
scope-budgets = Budgets
scope-debates = Debates
scope-meetings = Meetings
scope-oauth = People
scope-pages = Pages: no operation yet
scope-proposals = Proposals
scope-public = Spaces and components
scope-roles = Roles of people
scope-spaces = Spaces: no operation yet
scope-surveys = Questionnaires and answers
scope-system = Settings of the organization
scope-webhooks = Webhooks
group-answers = Answers
group-auth-type = Auth Type
group-components = Components
group-events = Webhook events
group-events-hint = Events the API client is allowed to subscribe to
group-extended-data = Extended data
group-links = Sign-in links
group-operations = Operations
group-organizations = Organizations
group-people = People
group-questionnaires = Questionnaires
group-server = Server
group-spaces = Spaces
ability-oauth-impersonate = Act as any participant
ability-oauth-login = Sign people in with their password
ability-oauth-read = List people
ability-oauth-magic-link = Make sign-in links
ability-oauth-extended-data-read = Read
ability-oauth-extended-data-update = Write
ability-system-organizations-read = Read organizations
ability-system-organizations-update = Change settings
ability-system-organizations-destroy = Delete organizations: no operation yet
ability-system-organizations-create = Create organizations: no operation yet
ability-system-organizations-extended-data-read = Read
ability-system-organizations-extended-data-update = Write
ability-system-users-update = Change people: no operation yet
ability-system-users-destroy = Delete people: no operation yet
ability-system-server-restart = Restart the server: no operation yet
ability-system-server-exec = Run commands: no operation yet
ability-public-component-read = Read components
ability-public-component-extended-data-read = Read for components
ability-public-component-extended-data-update = Write for components
ability-public-space-read = Read spaces
ability-public-space-extended-data-read = Read for spaces
ability-public-space-extended-data-update = Write for spaces
ability-proposals-read = Read proposals and votes
ability-proposals-draft = Write and publish drafts
ability-proposals-vote = Vote and withdraw a vote
ability-proposals-extended-data-read = Read
ability-proposals-extended-data-update = Write
ability-blogs-read = Read posts
ability-blogs-write = Write posts
ability-blogs-destroy = Delete posts
ability-meetings-read = Read meetings
ability-meetings-extended-data-read = Read
ability-meetings-extended-data-update = Write
ability-surveys-read = Read questionnaires and questions
ability-surveys-questionnaires-read = Read questionnaires
ability-surveys-questions-manage = Change questionnaires and questions
ability-surveys-answers-submit = Send answers
ability-surveys-answers-read = Read answers
ability-surveys-answers-destroy = Delete answers
ability-debates-read = Read debates: no operation yet
ability-budgets-read = Read budgets: no operation yet
ability-accountability-read = Read results: no operation yet
ability-roles-read = Read roles
ability-roles-write = Give, change and take roles
ability-attachments-read = Read attachments
ability-attachments-write = Upload and edit
ability-attachments-destroy = Delete attachments
ability-webhooks-read = Read registrations
ability-webhooks-write = Make and change registrations
ability-webhooks-destroy = Delete registrations
ability-draft-proposal-creation-succeeded = A draft is created
ability-draft-proposal-update-succeeded = A draft changes
ability-proposal-creation-succeeded = A proposal is published
ability-proposal-update-succeeded = A published proposal is edited
ability-proposal-state-change-succeeded = A proposal gets another state
ability-meetings-upcoming-reminder-succeeded = 48 hours before a meeting
ability-participatory-process-step-activated-succeeded = A step becomes the active one
ability-system-organizations-created = An organization is created
ability-system-organizations-updated = An organization changes
ability-system-organizations-deleted = An organization is deleted
ability-user-created = An account is created
ability-user-updated = An account changes

# Webhook registrations of a client.
not-granted = not granted any more, not delivered
registration-address = Address
registration-address-hint = http or https, reachable from the internet. Each event is sent here as a signed POST.
registration-create = Register
registration-delete-button = Delete the registration
registration-delete-effect = No more events are sent to this address
registration-delete-log = Its deliveries, sent and waiting, are deleted
registration-delete-stays = The client keeps its permissions.
registration-delete-title = Delete the registration?
registration-deleted = Registration deleted.
registration-delivering = Delivering
registration-disabled = Disabled
registration-disabled-why = { $count ->
    [one] since { $date }: 1 failure
   *[other] since { $date }: { $count } failures
}
registration-enable = Enable
registration-events = Events
registration-events-hint = Only events granted on the tab Permissions.
registration-failing = Failing
registration-failing-why = { $count ->
    [one] 1 failure since { $date }
   *[other] { $count } failures in a row since { $date }
}
registration-new = New registration
registration-no-events = The client may not receive any event yet. Grant events on the tab Permissions first.
registration-pause = Pause
registration-paused = Paused
registration-secret = Signing secret
registration-secret-next = The signing secret is shown once, on the next page.
registration-test = Send a test
registrations = Registrations
registrations-of = Webhook registrations of { $name }

# Organizations.
api-enabled-hint = When it is off, every operation of this organization answers 501, also for tokens, and no webhooks are sent. This panel is not affected.
module-accountabilities = Accountability
module-accountabilities-hint = Scope only
module-attachments = Attachments
module-attachments-hint = Files and links
module-blogs = Blogs
module-blogs-hint = Posts
module-budgets = Budgets
module-budgets-hint = Scope only
module-debates = Debates
module-debates-hint = Scope only
module-forms = Forms
module-forms-hint = Questionnaires, questions, answers
module-meetings = Meetings
module-meetings-hint = Meetings
module-proposals = Proposals
module-proposals-hint = Proposals, drafts, votes
module-surveys = Surveys
module-surveys-hint = Scope only, no operation of its own
modules-hint = While the REST API is off, the modules keep the values they have, whatever is ticked here.
modules-lede = A module that is off answers 501. What is stored stays, and comes back when it is on again.
modules-legend = Modules
organization-allowlist = Hosts that sign-in links may lead to
organization-allowlist-hint = One in a line, exact names. The organization’s own hosts are always allowed.
organization-api-off = API off
organization-base = Address of the interface
organization-comments = Longest comment
organization-comments-hint = In characters. Components may set their own.
organization-create = Create the organization
organization-created = { $name } is created.
organization-delete-button = Delete the organization
organization-delete-clients = { $count ->
    [0] No API client is deleted
    [one] 1 API client is deleted with its tokens and webhooks
   *[other] { $count } API clients are deleted with their tokens and webhooks
}
organization-delete-host = { $host } answers no more requests
organization-delete-lede = Deletes the organization with its spaces, people, votes, files and API clients. This cannot be undone.
organization-delete-name = Type the name of the organization to confirm
organization-delete-people = { $count ->
    [0] No account is deleted
    [one] 1 account is deleted with its proposals and votes
   *[other] { $count } accounts are deleted with their proposals and votes
}
organization-delete-spaces = { $count ->
    [0] No space is deleted
    [one] 1 space is deleted with everything in it
   *[other] { $count } spaces are deleted with everything in them
}
organization-delete-stays = The audit log and the events already delivered stay. Export the organization first if it may be needed again.
organization-deleted = { $name } is deleted.
organization-dns-cancel = To cancel the change, enter the current host and save.
organization-dns-hint = DNS records of a host, one a line:
organization-dns-see = See the DNS records
organization-dns-wanted = These records must exist for the new host. Until they do, the current host stays.
organization-files = Files and links
organization-fine = fine
organization-host = Primary host
organization-host-hint = Now { $host }. A new host replaces it once its DNS records point here; the old one then stops working.
organization-host-new-hint = A name with a dot, such as participate.city.example. Its DNS records must point here.
organization-host-pending = Host pending
organization-host-waiting = { $new } is waiting to replace { $now }
organization-hosts = Host names
organization-hosts-hint = The primary host selects the organization. Secondary hosts lead to it.
organization-identity = Name and description
organization-identity-hint = Shown to participants and in the interface.
organization-interface = Interface
organization-languages = Languages offered
organization-languages-and-time = Languages and time
organization-largest-file = Largest file
organization-largest-file-hint = In bytes. 10485760 are 10 MB.
organization-main-language = Main language
organization-main-language-hint = The name must have a text in it.
organization-new = New organization
organization-new-lede = Enter a name and a host. Everything else can be changed later.
organization-people-hint = How participants get an account.
organization-prefix = Reference prefix
organization-prefix-hint = Begins the references of resources and the names of uploaded files.
organization-registration = Registration
organization-secondary = Secondary hosts
organization-secondary-hint = One in a line. Requests to them are redirected (301) to the primary host.
organization-secondary-waiting = Not confirmed, and unknown until their DNS records point here: { $hosts }. To confirm one at once, remove it, save, and enter it again.
organization-tab-api = REST API
organization-tab-settings = Settings
organization-tabs = Settings of the organization
organization-time-zone = Time zone
organization-views = Texts and views
organizations-caption = Organizations by name
organizations-filter = Filter organizations
organizations-lede = Each organization is reached under its own host and sees only its own data.
organizations-none = No organizations
organizations-pages = Pages of organizations
organizations-search = Name or host
registration-mode-disabled = Nobody
registration-mode-disabled-hint = Accounts come from API clients only.
registration-mode-enabled = Anybody can register
registration-mode-enabled-hint = People make their own accounts.
registration-mode-existing = Existing people only
registration-mode-existing-hint = Who has an account can sign in; nobody new can register.
setting-badges-enabled = Badges
setting-enable-machine-translations = Machine translations
setting-enable-machine-translations-hint = No translation service is configured on this deployment.
setting-enable-participatory-space-filters = Filters by area and scope
setting-force-users-to-authenticate-before-access-organization = Sign-in is needed to read
setting-rich-text-editor-in-public-views = Rich text editor for participants
setting-send-welcome-notification = New people get a welcome mail
setting-user-groups-enabled = User groups
settings-save = Save settings
settings-saved = Settings saved.
settings-together = All fields are saved together, or none.

# Administrators.
admin-account = Account
admin-account-hint = System administrators can open every page of this panel.
admin-active = Active
admin-create = Create the administrator
admin-created = { $email } is a system administrator.
admin-delete-button = Delete the administrator
admin-delete-effect = The account can no longer sign in
admin-delete-sessions = Its sessions end at once
admin-delete-stays = The audit log keeps what the account did.
admin-deleted = { $email } is no system administrator any more.
admin-last-sign-in = Last sign-in
admin-locked = Locked for some addresses
admin-locked-until = until { $time }
admin-new = New administrator
admin-no-password = No password
admin-save = Save the administrator
admin-saved = { $email } is saved.
admin-unlocked = { $email } is unlocked.
admin-you = you
admins-caption = System administrators by e-mail address
admins-lede = Accounts of this panel. They belong to no organization.
