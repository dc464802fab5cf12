//! Stores files in a directory or in object storage, and inspects their content.
