"""Claims of the papers as data: an entry of ``config/claims/<paper>.yaml`` names a form, and a form returns points."""
