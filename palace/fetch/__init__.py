"""Live artifacts: issues, pull requests, files and logs, fetched when a prompt names one."""
