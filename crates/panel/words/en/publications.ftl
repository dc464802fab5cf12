# Meetings and posts.

# Both.
nav-meetings = Meetings
nav-posts = Posts
problem-before-start = Enter an end that is not before the start.
publication-choose = Choose a component
publication-place = Space or component
publications-search = Part of the title

# Meetings.
audience-everybody = Everybody
audience-everybody-hint = All who see the component see the meeting.
audience-private = Private
audience-private-hint = Only registered people, people with a role in the space, and administrators see it.
audience-transparent = Private, shown to everybody
audience-transparent-hint = The meeting is private. All who see the component see it nevertheless.
meeting-audience = Who sees it
meeting-create = Create the meeting
meeting-created = “{ $title }” is created.
meeting-created-next = It is not published yet. Publish it on this page.
meeting-delete-attachments = Its attachments are not shown any more.
meeting-delete-button = Delete the meeting
meeting-delete-gone = The meeting disappears from all lists and from the interface. No reminder is sent.
meeting-delete-here = Delete the meeting
meeting-delete-hint = It disappears from all lists. This cannot be undone.
meeting-delete-link = Delete the meeting…
meeting-delete-registrations = { $count ->
    [one] 1 registration is lost
   *[other] { $count } registrations are lost
}
meeting-delete-stays = The component and its other meetings stay.
meeting-delete-title = Delete “{ $title }”?
meeting-deleted = “{ $title }” is deleted.
meeting-end = End
meeting-hidden = Hidden
meeting-hide = Hide the meeting
meeting-hide-done = “{ $title }” is hidden.
meeting-hide-done-undo = To undo this, choose Show on this page.
meeting-hide-hint = It disappears from all lists and no reminder is sent. It can be shown again.
meeting-lede = id { $id }, { $component }. Registered people: { $registrations }.
meeting-new = New meeting
meeting-new-lede = The meeting is not published at first.
meeting-one = Meeting
meeting-past = Past
meeting-publish = Publish the meeting
meeting-publish-done = “{ $title }” is published.
meeting-publish-done-undo = To undo this, choose Unpublish on this page. A reminder that was sent stays sent.
meeting-publish-hint = It is listed. A reminder is sent 48 hours before the start, or at once if less time is left.
meeting-save = Save the meeting
meeting-saved = “{ $title }” is saved.
meeting-show = Show the meeting
meeting-show-done = “{ $title }” is shown again.
meeting-show-done-undo = To undo this, choose Hide on this page.
meeting-show-hint = It appears in the lists again.
meeting-start = Start
meeting-unpublish = Unpublish the meeting
meeting-unpublish-done = “{ $title }” is not published any more.
meeting-unpublish-done-undo = To undo this, choose Publish on this page.
meeting-unpublish-hint = It disappears from all lists until it is published again. Registrations stay.
meeting-until = until { $time }
meeting-upcoming = Upcoming
meeting-when = Time
meeting-when-hint = In the time zone of the organization. With another start a new reminder is sent 48 hours before it, or at once if less time is left.
meeting-withdraw-button = Cancel the meeting
meeting-withdraw-done = “{ $title }” is cancelled.
meeting-withdraw-done-undo = This cannot be undone.
meeting-withdraw-here = Cancel the meeting
meeting-withdraw-hint = It stays visible and no reminder is sent. This cannot be undone.
meeting-withdraw-link = Cancel the meeting…
meeting-withdraw-registrations = { $count ->
    [one] 1 registered person gets no message about it
   *[other] { $count } registered people get no message about it
}
meeting-withdraw-reminder = No reminder is sent any more.
meeting-withdraw-shown = The meeting stays in the lists.
meeting-withdraw-stays = The texts, the times and the registrations stay.
meeting-withdraw-title = Cancel “{ $title }”?
meeting-withdrawn = Cancelled
meetings-earliest-first = Earliest start first
meetings-filter = Filter meetings
meetings-latest-first = Latest start first
meetings-lede = The meetings of all components. Deleted ones are not listed.
meetings-no-match = No meeting matches
meetings-none = No meetings yet

# Posts.
post-author = Author
post-body = Text
post-create = Create the post
post-created = “{ $title }” is created.
post-delete-attachments = Its attachments are not shown any more.
post-delete-button = Delete the post
post-delete-gone = The post disappears from all lists and from the interface.
post-delete-here = Delete
post-delete-hint = It disappears from all lists. This cannot be undone.
post-delete-link = Delete the post…
post-delete-stays = The component and its other posts stay.
post-delete-title = Delete { $title }?
post-deleted = “{ $title }” is deleted.
post-draft = Draft
post-hidden = Hidden
post-hide = Hide the post
post-hide-done = “{ $title }” is hidden.
post-hide-done-undo = To undo this, choose Show on this page.
post-hide-hint = Nobody sees it then, not even its author. It can be shown again.
post-lede = id { $id }, { $component }. Author: { $author }.
post-new = New post
post-new-lede = The author of the post is the organization.
post-of-organization = the organization
post-one = Post
post-publication = Publication
post-publish = Publish now
post-publish-done = “{ $title }” is published.
post-publish-done-undo = To undo this, choose Make it a draft on this page.
post-publish-hint = All who see the component see the post from now on.
post-published-at = Time of publication
post-published-at-hint = Empty: a draft. Later than now: published at that time. In the time zone of the organization.
post-save = Save the post
post-saved = “{ $title }” is saved.
post-scheduled = Scheduled
post-show = Show the post
post-show-done = “{ $title }” is not hidden any more.
post-show-done-undo = To undo this, choose Hide on this page.
post-show-hint = All see it again who may see a post in its state.
post-unpublish = Make it a draft
post-unpublish-done = “{ $title }” is a draft.
post-unpublish-done-undo = To undo this, choose Publish now on this page.
post-unpublish-hint = Only its author sees it then. The time of publication is removed.
posts-filter = Filter posts
posts-lede = The posts of all blogs, with drafts and scheduled ones. Deleted ones are not listed.
posts-no-match = No post matches
posts-none = No posts yet

# Registrations for a meeting.
problem-person-unknown = No person of the organization has this nickname or id.
registered-add = Register a person
registered-add-button = Register
registered-added = { $name } is registered.
registered-count = { $count ->
    [one] 1 registered person
   *[other] { $count } registered people
}
registered-lede = Registered people see the meeting, even if it is private.
registered-none = Nobody is registered
registered-person = Person
registered-person-hint = Nickname or id.
registered-remove = Remove
registered-removed = { $name } is not registered any more.
registered-removed-undo = To undo this, register the person again.
registered-title = Registrations
