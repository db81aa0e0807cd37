"""The pages under `/account/`: for owners of sites, operators of agents, moderators, and every person.

Server-rendered pages that call the same services as the API. Each group of pages is a package with `urls`, views and
forms, and its templates are in `templates/account_area/<package>/`.
"""
