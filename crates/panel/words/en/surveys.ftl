# Surveys, their questions and the responses to them.

action-response-deleted = Response deleted
nav-surveys = Surveys

# The list.
survey-closed = Closed
survey-new = New survey
survey-of-component = Surveys of the component
survey-of-meeting = Form of a meeting
survey-one = Survey
survey-open = Open
survey-planned = Not open yet
survey-questions = Questions
survey-responses = Responses
surveys-by-change = Last change
surveys-filter = Filter surveys
surveys-lede = Surveys and the registration forms of meetings.
surveys-no-match = No survey matches
surveys-none = No surveys yet
surveys-search = Title

# One survey.
survey-tab-edit = Title and terms
survey-tab-preview = Preview
survey-tab-questions = Questions
survey-tab-responses = Responses
survey-tabs = Survey
survey-dates-both = Open from { $from } to { $to }.
survey-dates-from = Open from { $from }.
survey-dates-meeting = The form of a meeting has no dates.
survey-dates-none = Always open.
survey-dates-to = Open until { $to }.

# Texts and dates.
problem-survey-dates = The end must be after the beginning.
problem-survey-locked = The type cannot change: the question has answers.
problem-survey-long = The text is too long.
problem-survey-many = There are too many of them.
problem-survey-order = A question cannot come before the question that its condition names.
survey-component-hint = A component can have several surveys.
survey-create = Create the survey
survey-created = The survey { $name } was created.
survey-created-next = Now add its questions.
survey-ends = Closes
survey-new-lede = A survey belongs to a component. It can be answered when the component is published.
survey-save = Save
survey-saved = { $name } is saved.
survey-starts = Opens
survey-texts = Texts
survey-tos = Terms
survey-when = Dates
survey-when-hint = Times in { $zone }. Without dates the survey is always open.
survey-who-meeting = Only people with an account can answer, once each.
survey-who-survey = People with an account can answer once; answers without an account are accepted too.

# Questions.
question-add = Add a question
question-at-most = { $count ->
    [one] at most 1 choice
   *[other] at most { $count } choices
}
question-at-most-characters = { $count ->
    [one] at most 1 character
   *[other] at most { $count } characters
}
question-body = Question
question-close = Close
question-conditions-count = { $count ->
    [one] 1 condition
   *[other] { $count } conditions
}
question-create = Add question { $number }
question-created = The question “{ $title }” was added.
question-delete = Delete the question
question-delete-answers = { $count ->
    [0] The question has no answers
    [one] 1 answer to the question is deleted
   *[other] { $number } answers to the question are deleted
}
question-delete-conditions = { $count ->
    [0] No condition names the question
    [one] 1 condition of another question is deleted
   *[other] { $count } conditions of other questions are deleted
}
question-delete-link = Delete question { $number }…
question-delete-options = { $count ->
    [one] 1 option is deleted
   *[other] { $count } options are deleted
}
question-delete-shown = { $count ->
    [one] Question { $questions } can then be displayed to more people
   *[other] Questions { $questions } can then be displayed to more people
}
question-delete-stays = The other questions and their answers stay. Responses that have no other answer are deleted.
question-delete-title = Delete question { $number }?
question-deleted = The question “{ $title }” was deleted.
question-description = Explanation
question-displayed = Displayed
question-displayed-hint = Without conditions: always. If conditions marked “Needed” exist, all of them must hold; otherwise one is enough.
question-files = Files
question-is-mandatory = mandatory
question-layout = layout, no answer
question-long-answer = Long answer
question-mandatory = Mandatory
question-mandatory-hint = Counts only while the question is displayed.
question-matrix-multiple = Matrix, several choices in a row
question-matrix-single = Matrix, one choice in a row
question-max-characters = Most characters
question-max-characters-hint = Empty: no limit.
question-max-choices = Most choices
question-max-choices-hint = Empty: as many as there are.
question-more-rows = Save and add more rows
question-moved = “{ $title }” was moved.
question-multiple-option = Several choices
question-new-type = Type of the new question
question-number = Question { $number }
question-option-in = Option { $id } in { $language }
question-option-loss = { $count ->
    [one] The condition of question { $questions } loses this option and then never holds.
   *[other] The conditions of questions { $questions } lose this option and then never hold.
}
question-options = Options
question-options-count = { $count ->
    [one] 1 option
   *[other] { $count } options
}
question-options-hint = In the order of their numbers. New rows left empty are not saved.
question-part-new = new
question-place = Place
question-remove = Remove
question-row-in = Row { $id } in { $language }
question-row-place = Place of row { $id }
question-rows = Rows
question-rows-count = { $count ->
    [one] 1 row
   *[other] { $count } rows
}
question-rows-hint = In the order of their places. New rows left empty are not saved.
question-save = Save question { $number }
question-saved = The question “{ $title }” is saved.
question-separator = Separator (layout)
question-short-answer = Short answer
question-single-option = One choice
question-sorting = Put in order
question-stays = “{ $title }” stays where it is.
question-title-and-description = Title and text (layout)
question-type = Type
question-type-hint = After another choice, save to see its fields.
question-type-locked = Fixed: the question has answers.
question-up = Up
question-down = Down
questions-none = No questions yet
questions-none-lede = Choose a type below and add the first one.

# Conditions.
condition-always = Always display
condition-answered = answered
condition-equal = equal to
condition-match = containing the text
condition-more = Save and add a condition
condition-needed = Needed
condition-not-answered = not answered
condition-not-equal = not equal to
condition-option = Option
condition-question = If question
condition-type = Is
condition-value = Text in { $language }

# Responses.
response-anonymous = without account
response-answered = Answered
response-answers = Answers
response-by = Respondent
response-delete = Delete the response
response-delete-again = A person with an account can answer again
response-delete-answers = { $count ->
    [0] The response has no answers
    [one] 1 answer is deleted
   *[other] { $count } answers are deleted
}
response-delete-files = Files of the response are deleted
response-delete-link = Delete…
response-delete-stays = The questions and all other responses stay.
response-deleted = Response { $id } was deleted.
response-displayed = Questions displayed
response-not-displayed = not displayed
response-nothing = no answer
response-one = Response
response-time = Sent
response-title = Response { $id }
responses-export-csv = Export as CSV
responses-export-ndjson = Export as NDJSON
responses-none = No responses yet
responses-none-lede = Responses are listed here as soon as they are sent.

# Preview.
survey-preview-condition = { $count ->
    [one] Displayed under 1 condition.
   *[other] Displayed under { $count } conditions.
}
survey-preview-show = Show
