"""Planning in a browser, for the steward: `rowspace studio STUDY`. On this machine alone; it writes the study only.

    settings  what it is started with            document  the study file, change by change
    desk      the study and the work for it      jobs      work in a process that can be ended
    figures   a plan at every budget, as JSON    pages     the page
    app       the application                    service   a socket and uvicorn

What all our pages on HTTP share is `rowspace.serve`'s. Needs the extra ``rowspace[serve]``.
"""

from .app import create_app
from .service import studio
from .settings import Settings

__all__ = ["Settings", "create_app", "studio"]
