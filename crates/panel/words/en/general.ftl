# Navigation and frame of the pages.
administration = administration
read-only-lede = This platform is read-only at the moment: nothing can be changed.
read-only-stored = Nothing was stored.
read-only-title = Read-only
skip = Skip to the content
menu = Menu
menu-close = Close the menu
nav-main = Main
nav-start = Start
nav-settings = Settings
nav-organizations = Organizations
nav-api-clients = API Clients
nav-admins = Admins
nav-deployment = Deployment
nav-operations = Operations
nav-jobs = Jobs
nav-deliveries = Deliveries
nav-registrations = Registrations
nav-audit = Audit log
nav-docs = API docs
find = Find
find-placeholder = E-mail, host or id
organization = Organization
choose-another = Choose another
breadcrumb = Breadcrumb
sign-out = Sign out
times-in = Times are shown in { $zone }.

# Words used on many pages.
all = All
all-organizations = all organizations
apply = Apply
cancel = Cancel
choose = Choose…
copied = Copied
copy = Copy
delete = Delete
delete-link = Delete…
delete-named = Delete { $name }…
delete-title = Delete { $name }?
description = Description
edit = Edit
email = E-mail address
from = From
html-hint = Simple HTML.
more-than = More than { $number }
more-than-title = { $title } or more
never = never
newest-first = Newest first
none = none
off = off
on = on
password = Password
search = Search
since = since { $date }
to = To
unlock = Unlock

# Columns.
column-acts = Actions
column-changed = Last change
column-created = Created
column-languages = Languages
column-name = Name
column-people = People
column-state = State

# Lists.
filter-clear = Clear all
filter-remove = Remove the filter
found-shown = { $count ->
    [one] 1 shown
   *[other] { $count } shown
}
pages-newer = Newer
pages-next = Next
pages-older = Older
pages-place = Page { $page }
pages-previous = Previous

# Forms.
confirm-lede = This cannot be undone. It takes effect with the next request:
field-optional = (optional)
field-problem = Problem:
not-saved-yet = Not saved yet.
problems-title = { $count ->
    [one] Nothing was saved: 1 correction is needed
   *[other] Nothing was saved: { $count } corrections are needed
}
problem-blank = Enter a text.
problem-changed-meanwhile = Somebody else changed this record meanwhile. Nothing was saved. Open the page again to see the change, and make yours there.
problem-choose = Choose one.
problem-code = The code is not right. Enter the code that the app shows now.
problem-email = Enter an e-mail address.
problem-email-taken = Another administrator already has this e-mail address.
problem-factor-expired = This form is too old. Begin again with a new QR code.
problem-factor-off = The second factor is already off.
problem-factor-on = The second factor is already on. Turn it off first.
problem-greater = Enter 1 or more.
problem-inclusion = Choose one of the values offered.
problem-last-admin = The last administrator cannot be deleted.
problem-long = Enter at most { $most } characters.
problem-name-typed = The name is not the same. Type it as it is shown.
problem-nul = A text has a character that cannot be stored (U+0000, or bytes that are not UTF-8).
problem-number = Enter a whole number.
problem-password-blank = Enter a password that is not only spaces.
problem-password-email = Enter a password that is not the e-mail address.
problem-password-long = Enter at most 1,000 characters.
problem-password-short = Enter at least 12 characters.
problem-scope = There is no scope { $scope }.
problem-taken = This value is already used. Enter another one.
text-all = All languages
text-empty = empty
text-in = in { $language }
text-main = main language
text-partly-empty = { $empty } of { $all } empty
text-problems = { $count ->
    [one] 1 problem
   *[other] { $count } problems
}
text-shown = Language shown
texts = Texts

# Languages.
language = Language
language-en = English
language-es = Spanish
language-fr = French
language-of-browser = That of the browser

# Secrets.
secret-first-call = First call
secret-lede = It is shown this one time and stored only in a form that cannot be read back. If it is lost, make a new one.
secret-stored = I have stored it
secret-title = Store the secret now

# Errors.
broken-busy = The server is overloaded, or the database does not answer. Nothing was changed. Try again in a minute.
broken-hint = With the request number the operator finds the cause in the log.
broken-lede = An error on the server stopped this request. It is recorded in the log. If you were saving, look first whether the change is there: it is stored completely or not at all.
broken-request = Request
broken-time = Time
broken-title = Something went wrong
forbidden-title = Not allowed
missing-lede = There is nothing at this address. It was deleted, it belongs to another organization, or the address is not complete.
missing-title = Page not found
refused-title = Not possible
stale-lede = This form is too old, or it was sent already. Nothing was changed. Open it again.
stale-open = Open the form again
stale-title = This form is too old
too-many-lede = Too many sign-ins were refused from this address. Try again in { $seconds } s.
too-many-open = Sign in
too-many-title = Too many attempts

# Sign-in.
sign-in = Sign in
sign-in-code = Code
sign-in-code-hint = Six digits of your app, or a recovery code. Only for accounts with a second factor.
sign-in-code-needed = Enter the code of your app, and the password again.
sign-in-hint = For system administrators. Accounts of participants do not work here. To set a new password, run this on the server:
sign-in-refused = E-mail address or password is not right. After 20 failed attempts within an hour, more from the same place are refused for an hour.
session-ended = Your session has ended. Sign in and send the form again.

# The own account.
account = Your account
confirmation = Enter your password
confirmation-code-hint = Six digits of your app, or a recovery code. Each works once: if you have just used the one that the app shows, wait for the next one.
confirmation-continue = Continue
confirmation-lede = Changes of accounts, passwords and second factors of administrators need your own password. It is valid for five minutes.
confirmation-open = Change password or second factor
confirmation-refused = The password or the code is not right. It counts as a failed sign-in.
confirmation-unsaved = Nothing was saved: your password was needed again. Enter it, then send the form again.
password-hint = At least 12 characters.
password-new = New password
password-new-hint = At least 12 characters. Empty: the password stays.
password-save = Save the password
password-saved = Password saved.
password-sessions = A new password ends all other sessions of the account.
preferences = Language and colours
preferences-save = Save
preferences-saved = Saved.
theme = Colours
theme-dark = Dark
theme-device = As the device
theme-light = Light
recovery-codes = Recovery codes
second-factor = Second factor
second-factor-begin = Set up a second factor
second-factor-code-hint = Six digits that the app shows now.
second-factor-confirm = Confirm with a code
second-factor-end = Turn the second factor off
second-factor-hint = An app on your phone shows a new code every 30 seconds. It is asked for after the password.
second-factor-is-off = The password alone is enough to sign in.
second-factor-is-on = Sign-in needs the password and a code.
second-factor-key = Key
second-factor-of-admin = This account has a second factor. Turn it off only if the phone and the recovery codes are lost.
second-factor-off = The second factor is off.
second-factor-on = The second factor is on. Each recovery code works once.
second-factor-qr = QR code for the app
second-factor-scan = Add the account to the app
second-factor-scan-hint = Scan the QR code with the app, or type the key.
second-factor-turn-on = Turn it on

# The first administrator.
setup-create = Create both
setup-host-hint = The name that participants and programs use. Its DNS records must point here.
setup-lede = There is no administrator yet. Create the first one, and the first organization.
setup-name = Name of the organization
setup-title = Set up Civitas
