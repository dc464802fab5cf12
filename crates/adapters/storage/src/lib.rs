//! Every port of the rooms, kept in a database.
