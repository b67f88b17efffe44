"""Pages of the phone itself: the apps used lately."""

from __future__ import annotations

from distrl.devices.sim.apps.base import App, Context
from distrl.devices.sim.ui import Page, Row, Text, Widget


class System(App):
    id = "os"
    title = "Phone"
    glyph = "recents"
    colour = "#44474f"
    home = "recents"

    def page_recents(self, ctx: Context) -> Page:
        from distrl.devices.sim.apps import APPS  # late: the table of apps imports this module

        apps = [APPS[name] for name in ctx.data["used"] if name in APPS]
        rows: tuple[Widget, ...] = tuple(Row(app.title, icon=app.glyph, tap=("reopen", app.id)) for app in apps)
        return Page("Recent apps", rows or (Text("No recent apps"),))

    def on_reopen(self, ctx: Context, app: str) -> None:
        from distrl.devices.sim.apps import APPS

        del ctx.state["os"]["stack"][1:]
        ctx.push(APPS[app].home, app=app)
