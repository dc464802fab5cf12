# Pages of the content of an organization.
