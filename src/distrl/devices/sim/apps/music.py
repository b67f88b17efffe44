"""The music player: a library of songs, artists and playlists, and the song that plays."""

from __future__ import annotations

import random

from distrl.devices.sim.apps.base import App, Context
from distrl.devices.sim.ui import Button, ButtonRow, Check, Dialog, Field, Icon, Page, Picture, Row, Tabs, Text, Widget
from distrl.types import Tree

SONGS = (
    "Blue River", "Night Train", "Summer Rain", "Golden Hour", "Paper Moon", "Red Shoes", "Open Road", "Cold Water",
    "City Lights", "Slow Dance", "Little Bird", "Last Letter", "Sweet Home", "High Hill", "Lost Key", "Warm Wind",
    "White Snow", "First Kiss", "Long Walk", "Green Garden", "Silver Star", "Black Coffee", "New Shoes", "Old Friend",
)  # fmt: skip
ARTISTS = ("Ruby Stone", "The Foxes", "Max Hill", "Luna Bay", "Iron Horse", "Sara Wood", "Two Bears", "King Leo")
PLAYLISTS = ("Party", "Morning", "Road Trip", "Workout", "Dinner", "Sleep", "Focus", "Rainy Day")
LIBRARY = ("Songs", "Artists", "Playlists")


class Music(App):
    id = "music"
    title = "Music"
    glyph = "music"
    colour = "#b03a6a"
    home = "library"

    def seed(self, rng: random.Random) -> Tree:
        artists = rng.sample(ARTISTS, 6)
        titles = rng.sample(SONGS, rng.randint(14, 18))
        songs = [{"title": title, "artist": rng.choice(artists), "liked": rng.random() < 0.2} for title in titles]
        names = rng.sample(PLAYLISTS, rng.randint(3, 5))
        playlists = [{"name": name, "songs": rng.sample(titles, rng.randint(2, 5))} for name in names]
        return {"songs": songs, "playlists": playlists, "playing": rng.choice(titles), "paused": True, "recent": []}

    # -- pages

    def page_library(self, ctx: Context) -> Page:
        shown = ctx.ui.get("tab", "Songs")
        body = {"Songs": self._songs, "Artists": self._artists, "Playlists": self._playlists}[shown](ctx)
        actions = (
            Icon("search", "Search", ("push", "search", {})),
            Icon("play", "Now playing", ("push", "player", {})),
        )
        fab = Icon("add", "New playlist", ("push", "new", {})) if shown == "Playlists" else None
        return Page("Music", body, actions=actions, tabs=Tabs(LIBRARY, shown, "tab"), fab=fab, colour=self.colour)

    def page_search(self, ctx: Context) -> Page:
        words = set(ctx.args.get("query", "").casefold().split())
        found = [s for s in ctx.data["songs"] if words & set(f"{s['title']} {s['artist']}".casefold().split())]
        empty = Text("Type a song or an artist") if not words else Text("Nothing found")
        body = song_rows(found) or (empty,)
        return Page("Search", body, search=Field("query", "Search music", "search"), colour=self.colour)

    def page_artist(self, ctx: Context) -> Page:
        name = ctx.args["name"]
        return Page(name, song_rows([s for s in ctx.data["songs"] if s["artist"] == name]), colour=self.colour)

    def page_playlist(self, ctx: Context) -> Page:
        name = ctx.args["name"]
        titles = find_playlist(ctx.data, name)["songs"]
        body = song_rows([song for song in ctx.data["songs"] if song["title"] in titles], playlist=name)
        actions = (Icon("delete", "Delete playlist", ("dialog", "delete", {"name": name})),)
        return Page(name, body or (Text("No songs yet"),), actions=actions, colour=self.colour)

    def page_player(self, ctx: Context) -> Page:
        song = find_song(ctx.data, ctx.data["playing"])
        paused = ctx.data["paused"]
        like = Button("Unlike" if song["liked"] else "Like", ("like", song["title"]), filled=False)
        add = Button("Add to playlist", ("dialog", "choose", {"title": song["title"]}), filled=False)
        play = Button("Play", ("set", "paused", False)) if paused else Button("Pause", ("set", "paused", True))
        steps = (Button("Back", ("skip", -1), filled=False), play, Button("Next", ("skip", 1), filled=False))
        body = (
            Picture(song["title"], 110),
            Text(song["title"], "title"),
            Text(song["artist"], "caption"),
            ButtonRow(steps),
            like,
            add,
        )
        return Page("Now playing", body, colour=self.colour)

    def page_new(self, ctx: Context) -> Page:
        body = (Field("name", "Playlist name"), Button("Create", ("submit", "name")))
        return Page("New playlist", body, colour=self.colour)

    def dialog_choose(self, ctx: Context, title: str) -> Dialog:
        """Which playlist the song goes into; a tap adds it or takes it out."""
        checks = tuple(
            Check(playlist["name"], title in playlist["songs"], ("put", playlist["name"], title))
            for playlist in ctx.data["playlists"]
        )
        return Dialog("Add to playlist", body=checks, buttons=(Button("Close", ("none",)),))

    def dialog_song(self, ctx: Context, title: str, playlist: str) -> Dialog:
        liked = find_song(ctx.data, title)["liked"]
        rows = [
            Button("Unlike" if liked else "Like", ("like", title), filled=False),
            Button("Add to playlist", ("dialog", "choose", {"title": title}), filled=False),
        ]
        if playlist:
            rows.append(Button("Remove from list", ("put", playlist, title), filled=False))
        return Dialog(title, buttons=tuple(rows))

    def dialog_delete(self, ctx: Context, name: str) -> Dialog:
        buttons = (Button("Cancel", ("none",), filled=False), Button("Delete", ("delete", name)))
        return Dialog(f"Delete {name}?", buttons=buttons)

    def _songs(self, ctx: Context) -> tuple[Widget, ...]:
        return song_rows(ctx.data["songs"])

    def _artists(self, ctx: Context) -> tuple[Widget, ...]:
        names = [song["artist"] for song in ctx.data["songs"]]
        counts = {name: names.count(name) for name in names}
        return tuple(
            Row(name, f"{count} song{'s' * (count > 1)}", "person", tap=("push", "artist", {"name": name}))
            for name, count in counts.items()
        )

    def _playlists(self, ctx: Context) -> tuple[Widget, ...]:
        return tuple(
            Row(p["name"], f"{len(p['songs'])} songs", "list", tap=("push", "playlist", {"name": p["name"]}))
            for p in ctx.data["playlists"]
        )

    # -- events

    def on_tab(self, ctx: Context, name: str) -> None:
        ctx.ui["tab"] = name
        ctx.frame["scroll"] = 0

    def on_play(self, ctx: Context, title: str) -> None:
        ctx.data["playing"], ctx.data["paused"] = title, False
        ctx.push("player")

    def on_skip(self, ctx: Context, by: int) -> None:
        titles = [song["title"] for song in ctx.data["songs"]]
        ctx.data["playing"] = titles[(titles.index(ctx.data["playing"]) + by) % len(titles)]

    def on_like(self, ctx: Context, title: str) -> None:
        song = find_song(ctx.data, title)
        song["liked"] = not song["liked"]
        ctx.snack("Liked" if song["liked"] else "Not liked")

    def on_put(self, ctx: Context, playlist: str, title: str) -> None:
        titles = find_playlist(ctx.data, playlist)["songs"]
        if title in titles:
            titles.remove(title)
        else:
            titles.append(title)
        ctx.snack(f"{'Added to' if title in titles else 'Removed from'} {playlist}")

    def on_submit(self, ctx: Context, key: str) -> None:
        text = ctx.field(key).strip()
        ctx.unfocus()
        if key == "query":
            ctx.args["query"] = text
        elif text and text not in [playlist["name"] for playlist in ctx.data["playlists"]]:
            ctx.data["playlists"].append({"name": text, "songs": []})
            ctx.back()
            ctx.snack(f"{text} created")

    def on_delete(self, ctx: Context, name: str) -> None:
        ctx.data["playlists"].remove(find_playlist(ctx.data, name))
        ctx.back()


def song_rows(songs: list[Tree], playlist: str = "") -> tuple[Widget, ...]:
    """One row per song: a tap plays it, a long press opens its menu."""
    return tuple(
        Row(
            song["title"],
            song["artist"],
            "heart" if song["liked"] else "music",
            tap=("play", song["title"]),
            long=("dialog", "song", {"title": song["title"], "playlist": playlist}),
        )
        for song in songs
    )


def find_song(data: Tree, title: str) -> Tree:
    found: Tree = next(song for song in data["songs"] if song["title"] == title)
    return found


def find_playlist(data: Tree, name: str) -> Tree:
    found: Tree = next(playlist for playlist in data["playlists"] if playlist["name"] == name)
    return found
