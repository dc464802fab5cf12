//! Questionnaires, their questions and the responses to them.
