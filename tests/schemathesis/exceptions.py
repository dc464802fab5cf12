"""The decided exceptions: answers that a check of schemathesis reports although a paragraph of the contract decides them.

Each exception begins with the paragraph. Any other report is a fault of the server or of its OpenAPI document.
"""
import json
import re

# Data that agrees with the document is refused with 400, 410 or 422, by a rule that a JSON schema cannot state or that depends
# on stored data: the paragraph, the ids of operations, the description of the error. Both are patterns of the whole text. A
# further condition can follow.
REFUSED = [
    ("01 §6 (at most 50 filters)", r"\w+", r"Too many filters \(maximum is 50\)"),
    ("01 §11 (docs/API.md, Bodies: digits of numbers)", r"\w+", r"Number cannot be stored exactly, send it as text: .*"),
    ("01 §11.1, §11.3", r"[gs]et\w*ExtendedData(Async|Sync)?",
     r"data must be an object when object_path is \"\.\"|object_path .* is not a leaf key"
     r"|extended_data exceeds maximum size .*"),
    ("01 §11.1 (in the body or in the query)", r"set(Component|Meeting|Proposal|Space)ExtendedData(Async)?",
     r"param is missing .*: object_path"),
    ("02 §2.2", r"createToken",
     r"Invalid Api Client, check (client_id )?credentials|can not request system scope with ROPC flow"),
    ("02 §4 (in the body or in the query)", r"revokeToken", r"The token is missing\."),
    ("03 §1.3", r"updateOrganization",
     r"(Name|Description|Reference prefix|Host|Unconfirmed host|Secondary hosts|Available locales|Default locale"
     r"|Enable machine translations|Comments max length)\b.*"),
    ("03 §1.4", r"setOrganizationExtendedData", r"unconfirmed_host is reserved"),
    ("03 §3.1", r"generateMagicLink", r"Is not a valid URL|Must .*|Host is not allowed .*|Is too long .*"),
    ("03 §3.2", r"signInWithMagicLink", r"Token not found|Invalid Token"),
    ("03 §4.4", r"createRoleSync", r"general_admin requires .*|Resource must .*|Unsupported resource_type .*|Type has .*"),
    ("03 §4.5", r"updateRole", r"Resource and user of a role .*|general_admin .*|Type has .*"),
    ("06 §1.4", r"listProposals|getProposal", r"User required",
     lambda case: any(name.startswith("filter[voted_weight") for name in case.query or {})),
    ("06 §2.3, §2.6, §2.7", r"\w+DraftProposal(Async|Sync)?",
     r"Draft Proposal already exists .*|You cannot create new proposals .*|(Title|Body) (is|must|cannot)\b.*"),
    ("06 §4.3", r"castProposalVote(Async)?", r"Already voted|Votes? (are disabled|limit reached|is invalid)|Weight: .*"),
    ("07 A.6", r"(create|update)BlogPost", r"(Title|Body) cannot be blank.*"),
    ("07 A.6", r"updateBlogPost(Async)?", r"data\.id does not match"),
    ("07 (head), B.5 (the document names no required parts of the form)", r"createAttachment",
     r"param is missing .*: (attached_to_type|attached_to_id|title|description)", lambda case: is_form(case)),
    ("07 B.5 (the name of a part is in a header, which has no control characters)", r"createAttachment", r"Malformed form",
     lambda case: is_form(case) and any(re.search(r"[\x00-\x1f\x7f]", name) for name in members(case.body))),
    ("07 B.5", r"createAttachment", r"(Title|Description|File|Attachment collection|signed_id) .*"),
    ("07 B.6", r"attachmentsDirectUpload", r"filename is invalid|byte_size must be between 1 and \d+"
     r"|param is missing .*: (filename|byte_size|checksum)|(filename|byte_size|checksum) required"),
    ("07 B.6", r"uploadAttachmentBytes", r"(Content length|Content type|Checksum) mismatch"),
    ("07 B.7", r"updateAttachment", r"data\.id does not match|(Title|Description|Attachment collection) .*"),
    ("08 §3", r"\w+", r"Locale is not available"),
    ("08 §4.4, §5.3", r"update(Questionnaire|Question|AnswerOption)(Async)?", r"data\.id does not match"),
    ("08 §4.4, §5", r"(create|update)(Questionnaire|Questions?|AnswerOption)", r"(Title|Body) cannot be blank.*"),
    ("08 §5.4", r"createAnswerOption", r"Question .*"),
    ("08 §6.1, §6.2, §6.3", r"createAnswers(Async)?",
     r"client_ip is invalid|User (required|blocked)|(Anonymous|Questionnaire|Answers?|Choices?|Too many)\b.*"),
    ("09 B", r"(create|update)WebhookRegistration", r"(Url|Subscriptions?) .*"),
    ("09 D", r"streamEvents", r"Subscription to .* is not allowed|Event is no longer available"),
]

# Data that does not agree with the document is accepted: the paragraph, the ids of operations, what is wrong (a pattern of
# a whole text of `wrong_parts`), and a further condition on the case and the name of the parameter. All wrong parts of a
# request must be decided.
ACCEPTED = [
    ("01 §2 (the body has precedence)", r"createBlogPost(Async)?", r"query component_id: .*",
     lambda case, _: "component_id" in members(case.body, "data")),
    ("01 §2 (the document names the numbers that are exact in JavaScript; the server takes 64 bits)", r"\w+",
     r"body .*: .*(maximum|minimum|Value (greater|smaller|less)).*", lambda case, _: has_inexact_number(case.body)),
    ("01 §6 (empty values are ignored)", r"\w+", r"query filter\[.*",
     lambda case, name: is_empty((case.query or {}).get(name))),
    ("01 §7 (never an error)", r"\w+", r"query (page|per_page): .*", None),
    ("01 §9, 03 §4.4 (the job refuses it)", r"createRole",
     r"body data\.attributes\.(type|resource_type): (enum|Invalid enum value)", None),
    ("01 §9, 08 §5.2 (the job refuses it)", r"createQuestionsAsync|updateQuestionAsync",
     r"body data\.attributes\.(position|max_choices|max_characters): .*minimum.*", None),
    ("01 §11.1 (the body has it)", r"set\w+ExtendedData(Async|Sync)?", r"query object_path: .*",
     lambda case, _: isinstance(members(case.body).get("object_path"), str)),
    ("02 §2.1 (ignored)", r"createToken", r"body password: .*", None),
    ("02 §3 (ignored)", r"introspectToken", r"body token_type_hint: .*", None),
    ("02 §3 (with a bearer token the credentials are not read)", r"introspectToken", r"body client_(id|secret): .*", None),
    ("02 §4 (no token, or an unknown one)", r"revokeToken",
     r"body (token|token_type_hint|client_id|client_secret): (type|Invalid type.*|Incorrect type.*)", None),
    ("05 §3.1 (ignored, whatever their value)", r"showProposalComponent", r"query filter\[id_.*", None),
    ("07 A.6 (the query has it)", r"createBlogPost(Async)?", r"body data(\.component_id)?: .*(missing|required).*",
     lambda case, _: "component_id" in (case.query or {}) and "attributes" in members(case.body, "data")),
    ("07 B.6 (the body has precedence)", r"attachmentsDirectUpload", r"query \w+: .*",
     lambda case, _: {"filename", "byte_size", "checksum"} <= set(members(case.body))),
    ("08 §3 (the body has precedence)", r"createAnswers(Async)?", r"query locale: .*",
     lambda case, _: isinstance(members(case.body, "meta").get("locale"), str)),
    ("08 §5.1, §5.4 (the parameter without brackets)", r"listQuestions|listAnswerOptions", r"query filter\[.*",
     lambda case, name: is_integer_text((case.query or {}).get(name.removeprefix("filter[").removesuffix("]")))),
    ("08 §6.1 (text or integer)", r"createAnswers(Async)?",
     r"body data\.relationships\.questionnaire\.data\.id: .*type.*",
     lambda case, _: is_integer(members(case.body, "data", "relationships", "questionnaire", "data").get("id"))),
    ("08 §4.4 (text or integer)", r"updateQuestionnaire(Async)?", r"body data\.id: .*type.*",
     lambda case, _: is_integer(members(case.body, "data").get("id"))),
    ("08 §6.1 (other members are ignored)", r"createAnswers(Async)?",
     r"body data\.relationships\.questionnaire\.data\.type: .*", None),
    ("08 §6.2 (ignored without respondent)", r"createAnswers(Async)?", r"body data\.relationships\.user\b.*",
     lambda case, _: members(case.body, "meta").get("anonymous") is True),
]


def deciding(failure, case, response):
    """The paragraph that decides a failure; None if there is none."""
    decide = DECISIONS.get(type(failure).__name__)
    return decide(failure, case, response) if decide else None


def refused(failure, case, response):
    description = error(response).get("error_description")
    if response.status_code not in (400, 410, 422) or description is None:
        return None
    return first(paragraph for paragraph, operations, text, *conditions in REFUSED
                 if is_of(case, operations) and re.fullmatch(text, description, re.DOTALL)
                 and all(holds(case) for holds in conditions))


def accepted(failure, case, response):
    paragraphs = [first(paragraph for paragraph, operations, text, holds in ACCEPTED
                        if is_of(case, operations) and re.fullmatch(text, part)
                        and (holds is None or holds(case, parameter_of(part))))
                  for part in wrong_parts(case)]
    return ", ".join(paragraphs) if paragraphs and all(paragraphs) else None


def other_method(failure, case, response):
    is_no_route = response.status_code == 404 and error(response).get("error") in (
        "404: Route not found", "404: Action not found")
    return "01 §2 (no 405)" if is_no_route else None


def stream(failure, case, response):
    """A stream of events is described as a text. OpenAPI 3.1 cannot describe one event, which schemathesis compares."""
    is_stream = response.headers.get("content-type", [""])[0].startswith("text/event-stream")
    return "09 D" if is_stream and failure.message.startswith("Event #") else None


DECISIONS = {"RejectedPositiveData": refused, "AcceptedNegativeData": accepted,
             "UnsupportedMethodResponse": other_method, "JsonSchemaError": stream}


def wrong_parts(case):
    """What of a request does not agree with the document: `<place> <name>: <rule>`, names joined with dots."""
    data = case.meta.phase.data
    place = data.parameter_location.value if data.parameter_location else "body"
    if not hasattr(data, "scenario"):
        for change in data.mutations:
            # A reference is the schema that it names.
            pointer = re.sub(r"/\$ref/[^/]+", "", change.schema_pointer)
            path = ".".join(name for name in pointer.split("/") if name not in ("", "properties", "items"))
            place = change.parameter_location.value
            yield f"{place} {path if place == 'body' else change.parameter}: {', '.join(change.keywords)}"
    elif place == "body":
        names, separator, rule = data.description.replace(" -> ", ".").rpartition(": ")
        if names.endswith("Missing required property"):
            names, rule = names.removesuffix("Missing required property") + rule, "missing"
        yield f"body {names}: {rule}"
    else:
        yield f"{place} {data.parameter}: {data.description}"


def is_of(case, operations):
    return re.fullmatch(operations, case.operation.definition.raw["operationId"]) is not None


def parameter_of(part):
    """The name in a text of `wrong_parts`."""
    return part.split(" ", 1)[1].split(": ", 1)[0]


def is_form(case):
    return (case.media_type or "").startswith("multipart/")


def is_empty(value):
    """Whether a value is sent as an empty text; an object is sent as its members."""
    members_of = value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]
    return all(item in ("", None) for item in members_of)


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def has_inexact_number(value):
    """Whether a body has a whole number that JavaScript does not read exactly."""
    if isinstance(value, (dict, list)):
        return any(map(has_inexact_number, value.values() if isinstance(value, dict) else value))
    return is_integer(value) and abs(value) > 2**53 - 1


def is_integer_text(value):
    return re.fullmatch(r"-?\d+", str(value)) is not None


def members(body, *names):
    """The members of an object in a body; none if it is something else."""
    for name in names:
        body = body.get(name) if isinstance(body, dict) else None
    return body if isinstance(body, dict) else {}


def error(response):
    """The body of an answer with an error, or an empty object."""
    try:
        body = json.loads(response.content)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def first(items):
    return next(iter(items), None)
