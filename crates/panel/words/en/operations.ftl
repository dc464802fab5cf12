# The audit trail.
audit-action = Action
audit-caption = Audit log, newest first
audit-changes = What changed
audit-count = { $count ->
    [one] 1 change
   *[other] { $count } changes
}
audit-filter = Filter the audit log
audit-lede = Who changed what, and when. Entries are never changed; secrets and passwords are never in them.
audit-none = No entries
audit-on = On
audit-pages = Pages of the audit log
audit-search = Who, or what it was done to
audit-time = Time
audit-who = Who
audit-with = Done with
actor-administrator = panel
actor-client = API client
actor-command-line = command line
actor-archive = archive
actor-anonymous = unknown
actor-for = { $kind }, for { $name }
action-api-client-created = API client created
action-api-client-updated = API client renamed
action-api-client-permissions-replaced = Permissions replaced
action-api-client-permissions-granted = Permissions granted
action-api-client-permissions-revoked = Permissions revoked
action-api-client-secret-rotated = Secret rotated
action-api-client-revoked = API client revoked
action-webhook-registration-created = Webhook registration created
action-webhook-registration-updated = Webhook registration updated
action-webhook-registration-deleted = Webhook registration deleted
action-webhook-registration-paused = Webhook registration paused
action-webhook-registration-resumed = Webhook registration resumed
action-webhook-registration-tested = Test sent to a webhook
action-webhook-delivery-replayed = Deliveries sent again
action-organization-created = Organization created
action-organization-updated = Organization updated
action-organization-deleted = Organization deleted
action-organization-host-check-started = Host check started
action-administrator-created = Administrator created
action-administrator-updated = Administrator updated
action-administrator-password-changed = Password of an administrator changed
action-administrator-deleted = Administrator deleted
action-administrator-locked = Administrator locked
action-administrator-unlocked = Administrator unlocked
action-administrator-second-factor-enabled = Second factor turned on
action-administrator-second-factor-disabled = Second factor turned off
action-sign-in-succeeded = Signed in
action-sign-in-refused = Sign-in refused
action-sign-in-locked = Sign-in refused because its source is refused
action-sign-out = Signed out
action-credentials-refused = Credentials of a client refused
action-secret-shown = Secret shown
action-role-created = Role created
action-role-updated = Role updated
action-role-deleted = Role deleted
action-user-created = Person created
action-user-updated = Person updated
action-user-deleted = Person deleted
action-user-confirmed = Person confirmed
action-user-blocked = Person blocked
action-user-unblocked = Person unblocked
action-user-locked = Person locked
action-user-unlocked = Person unlocked
action-user-impersonated = General administrator impersonated
action-magic-link-created = Magic link made for a general administrator
action-space-created = Space created
action-space-updated = Space updated
action-space-deleted = Space deleted
action-step-created = Step created
action-step-updated = Step updated
action-step-activated = Step activated
action-step-deleted = Step deleted
action-component-created = Component created
action-component-updated = Component updated
action-component-deleted = Component deleted
action-proposal-created = Proposal created
action-proposal-updated = Proposal updated
action-proposal-published = Proposal published
action-proposal-answered = Proposal answered
action-proposal-hidden = Proposal hidden
action-proposal-shown = Proposal shown
action-proposal-withdrawn = Proposal withdrawn
action-proposal-deleted = Proposal deleted
action-meeting-created = Meeting created
action-meeting-updated = Meeting updated
action-meeting-deleted = Meeting deleted
action-post-created = Post created
action-post-updated = Post updated
action-post-deleted = Post deleted
action-survey-created = Survey created
action-survey-updated = Survey updated
action-survey-deleted = Survey deleted
action-responses-exported = Responses exported
action-attachment-created = Attachment created
action-attachment-updated = Attachment updated
action-attachment-deleted = Attachment deleted
action-extended-data-updated = Extended data changed
action-job-deleted = Job deleted
action-archive-imported = Archive imported
action-archive-exported = Archive exported
action-backup-made = Backup made
action-backup-restored = Database restored from a backup
action-key-reencrypted = Secrets encrypted anew
action-key-rotated = Secret key rotated

# Jobs.
deleted = deleted
history = History
job-accepted = Accepted
job-accepted-note = 202 answered, job stored
job-code = Code
job-command = Command
job-completed = Completed
job-completed-lede = The write is done.
job-delete-button = Delete the job
job-delete-client = The client can no longer read its result
job-delete-ended = What the job has done stays
job-delete-link = Delete the job…
job-delete-pending = The job never runs
job-delete-processing = The job that runs now still takes effect
job-delete-title = Delete the job?
job-deleted = Job deleted.
job-failed = Failed
job-failed-lede = The write was refused or could not be done: nothing was changed. A failed job does not run again.
job-field = Field
job-for = For
job-for-client = the client itself (service token)
job-id = Job id
job-no-token = The token of the request is never stored.
job-one = Job
job-pending = Waiting
job-pending-lede = The job waits for a worker.
job-processing = Running
job-processing-lede = A worker runs the job now.
job-request = Request
job-result = Result
job-seen = Seen by the client
job-seen-lede = The client reads the same result, without a token, at
job-starts = Starts
job-starts-note = start { $starts } of at most { $most }
job-text = Text
job-wrong = What was wrong
jobs-caption = Jobs, newest first
jobs-filter = Filter jobs
jobs-lede = Writes that clients sent without /sync. A worker does each of them once.
jobs-none = No jobs
json-cut = Only the first 64 KiB are shown.
log-pages = Newer and older

# Deliveries and registrations.
deliveries-caption = Deliveries, newest first
deliveries-filter = Filter deliveries
deliveries-lede = Events on their way to the webhook registrations of API clients.
deliveries-none = No deliveries
delivery-answer = Answer of the receiver
delivery-attempt = Attempt { $number }
delivery-attempts = Attempts
delivery-dead = Given up
delivery-delivered = Delivered
delivery-dropped = Dropped
delivery-ended = Ended
delivery-event = Event
delivery-event-id = Event id
delivery-id = Delivery id
delivery-is-test = a test
delivery-next = next attempt { $time }
delivery-next-attempt = Next attempt
delivery-one = Delivery
delivery-pending = Waiting
delivery-queued = Queued
delivery-reason = Reason
delivery-registration = Registration number
delivery-replay = Send again
delivery-replayed = The delivery is queued again, with the same body and the same id.
delivery-took = { $milliseconds } ms
registration-enabled = The registration receives events again.
registration-is-paused = The registration is paused. Its deliveries wait.
registration-no-test = A registration that is paused or disabled gets no test. Enable it first.
registration-one = Registration
registration-tested = A test is on its way.
registrations-active = Delivering
registrations-caption = Webhook registrations of all API clients
registrations-disabled = Disabled
registrations-filter = Filter registrations
registrations-lede = Addresses that API clients registered for events, with the deliveries that are still stored.
registrations-pages = Pages of registrations
registrations-paused = Paused
registrations-search = Address or name of the client

# Find.
find-hint = E-mail address of an administrator, host, client id, job id or delivery id
find-none = Nothing found
find-none-lede = No record has exactly this identifier.

# Mails that wait.
nav-mails = Mail queue
mails-lede = Mails that were not sent yet. Mails that were given up after eight attempts are not stored; the log of the server has them.
mails-caption = Waiting mails, newest first
mails-filter = Filter mails
mails-none = No mail waits
mails-none-text = Every mail was sent, or was given up.
mails-retried = Tried again
mails-retry = Try all again now
mails-are-retried = { $count ->
    [0] No mail waited for another attempt.
    [one] 1 mail is sent now.
   *[other] { $count } mails are sent now.
}
mail-one = Mail
mail-queued = Queued
mail-confirmation = Confirmation of an address
mail-welcome = Welcome
mail-invitation = Invitation to a role
mail-notice = Refused sign-ins
mail-to-account = to account { $number }
mail-to-invited = to the invited address
mail-sending = Being sent
mail-waiting = Waiting
mail-retried = Failed, tried again
action-mails-retried = Mails tried again

# Replaying many deliveries.
deliveries-replay-link = Send these again…
deliveries-replay-title = Send deliveries again?
deliveries-replay-effect = { $count ->
    [0] No delivery that has ended matches these filters.
    [one] 1 delivery is sent again.
   *[other] { $count } deliveries are sent again.
}
deliveries-replay-most = There are more. Do the same again for the rest.
deliveries-replay-same = Each keeps its id and its body, so that a receiver can recognize what it has already.
deliveries-replay-stays = Deliveries that wait for an attempt are left as they are.
deliveries-replay-button = Send again
deliveries-replayed = { $count ->
    [0] No delivery was sent again.
    [one] 1 delivery is queued again.
   *[other] { $count } deliveries are queued again.
}

# What the server needs.
nav-storage = Storage and health
storage-all-good = Everything the server needs is there.
storage-faults = { $count ->
    [one] 1 check failed.
   *[other] { $count } checks failed.
}
storage-caption = Checks of what the server needs
storage-check = Checked
storage-found = Found
storage-good = Good
storage-fault = Fault
storage-check-configuration = Settings
storage-check-open-files = Open files
storage-check-storage = Data directory
storage-check-files = Attachments
storage-check-secret-key = Secret key
storage-check-clock = Clock
storage-check-schema = Tables of the database
storage-check-database = Database
storage-check-dns = Hosts and name server
storage-check-certificates = Certificates
storage-check-mail = Mail server
storage-check-backups = Backups
storage-check-shares = Shares
storage-queues = What waits
storage-jobs = Jobs
storage-deliveries = Webhook deliveries
storage-tasks = Mails and checks of hosts
storage-database-size = Size of the database
storage-first-accepted = the first was accepted on { $time }
storage-first-queued = the first was queued on { $time }
storage-first-due = the first is due on { $time }

# Shares: what clients and organizations use.
nav-shares = Shares
shares-lede = What one record, one API client and one organization use at the same time is limited, so that others keep their pace. Whoever is over its share gets the answer 429; others are not refused.
shares-limits = Limits
shares-tenants = In use, by organization
shares-none = No organization uses a share now
shares-one = Share
shares-record = Record
shares-process = This server
shares-used = In use
shares-refused = Refused since the start
share-reads = Reads
share-searches = Searches
share-job-streams = Streams of jobs
share-writes = Writes that run or wait
share-large-bodies = Long requests
share-large-answers = Long answers
share-images = Uploaded files that are inspected
share-passwords = Passwords that are checked
share-webhook-requests = Webhook requests
share-registrations = Webhook registrations
share-unattached-files = Files that are attached to nothing
share-jobs = Jobs
share-kept-answers = Answers kept for idempotency keys
