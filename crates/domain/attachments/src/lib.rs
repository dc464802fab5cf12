//! Files attached to records: uploads, classification, metadata.
