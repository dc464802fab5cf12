//! Every query, once, by table.
