"""Lists of the admin in which rows are decided: bars, saved lists, CSV, and jobs on many rows."""
