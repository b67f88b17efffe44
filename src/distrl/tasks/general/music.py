"""Tasks in the music player, which no training task touches."""

from __future__ import annotations

import random

from distrl.tasks.base import Edit, Ending, Oracle, Params, ScreenDriver, Template
from distrl.tasks.general.records import find, others, same
from distrl.types import Answer, Done

SONGS = (
    "Blue River", "Night Train", "Summer Rain", "Golden Hour", "Paper Moon", "Red Shoes", "Open Road", "Cold Water",
    "City Lights", "Slow Dance", "Little Bird", "Last Letter", "Sweet Home", "High Hill", "Lost Key", "Warm Wind",
    "White Snow", "First Kiss", "Long Walk", "Green Garden", "Silver Star", "Black Coffee", "New Shoes", "Old Friend",
)  # fmt: skip
ARTISTS = ("Ruby Stone", "The Foxes", "Max Hill", "Luna Bay", "Iron Horse", "Sara Wood", "Two Bears", "King Leo")
PLAYLISTS = ("Party", "Morning", "Road Trip", "Workout", "Dinner", "Sleep", "Focus", "Rainy Day")
SONG = {"song": SONGS}
LIBRARY, LISTS, PLAYER = "music/songs", "music/playlists", ("music/playing", "music/paused")


# --- start states -------------------------------------------------------------------------------


def there(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    """The song is in the library, not liked, and not the one in the player."""
    chosen = rng.sample([title for title in SONGS if title != params["song"]], rng.randint(12, 16))
    titles = [params["song"], *chosen]
    artists = rng.sample(ARTISTS, 6)
    songs = [{"title": t, "artist": rng.choice(artists), "liked": False} for t in rng.sample(titles, len(titles))]
    for song in rng.sample(songs, 3):
        song["liked"] = song["title"] != params["song"]
    names = rng.sample([name for name in PLAYLISTS if name != params.get("playlist")], 3)
    playlists = [{"name": name, "songs": rng.sample(chosen, rng.randint(2, 4))} for name in names]
    return ("set", LIBRARY, songs), ("set", LISTS, playlists), ("set", "music/playing", chosen[0])


def in_reach(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    """There is such a playlist, without the song."""
    edits = there(params, rng)
    known = [song["title"] for song in edits[0][2] if song["title"] != params["song"]]
    return *edits, ("add", LISTS, {"name": params["playlist"], "songs": rng.sample(known, rng.randint(1, 4))})


def in_the_list(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    edits = there(params, rng)
    known = [song["title"] for song in edits[0][2] if song["title"] != params["song"]]
    songs = [params["song"], *rng.sample(known, rng.randint(2, 4))]
    return *edits, ("add", LISTS, {"name": params["playlist"], "songs": rng.sample(songs, len(songs))})


def no_such_list(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    return (("drop", LISTS, {"name": params["playlist"]}),)


# --- rules --------------------------------------------------------------------------------------


def plays(ending: Ending) -> bool:
    music = ending.after["music"]
    return music["playing"] == ending.params["song"] and not music["paused"]


def is_liked(ending: Ending) -> bool:
    title, before, after = ending.params["song"], ending.before["music"]["songs"], ending.after["music"]["songs"]
    song = find(after, title=title)
    return song is not None and song["liked"] and others(after, title=title) == others(before, title=title)


def is_in_list(ending: Ending, wanted: bool) -> bool:
    """The song is in the playlist or not, as wanted; all other songs and playlists are as they were."""
    title, name = ending.params["song"], ending.params["playlist"]
    before, after = ending.before["music"]["playlists"], ending.after["music"]["playlists"]
    old, new = find(before, name=name), find(after, name=name)
    if old is None or new is None or others(before, name=name) != others(after, name=name):
        return False
    rest = {song for song in old["songs"] if song != title}
    return set(new["songs"]) == (rest | {title} if wanted else rest)


def is_made(ending: Ending) -> bool:
    name, before, after = ending.params["playlist"], ending.before["music"], ending.after["music"]
    made = find(after["playlists"], name=name)
    return made is not None and others(after["playlists"], name=name) == before["playlists"]


def names_artist(ending: Ending) -> bool:
    song = find(ending.before["music"]["songs"], title=ending.params["song"])
    return song is not None and same(ending.answer, song["artist"])


# --- oracles ------------------------------------------------------------------------------------


def play(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Music")
    yield from ui.tap(params["song"], "row")
    yield Done()


def like(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Music")
    yield from ui.tap(params["song"], "row")
    yield from ui.tap("Like", "button")
    yield Done()


def put_in_list(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Music")
    yield from ui.tap(params["song"], "row")
    yield from ui.tap("Add to playlist", "button")
    yield from ui.tap(params["playlist"], "checkbox")
    yield Done()


def take_from_list(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Music")
    yield from ui.tap("Playlists", "tab")
    yield from ui.tap(params["playlist"], "row")
    yield from ui.long_press(params["song"], "row")
    yield from ui.tap("Remove from list", "button")
    yield Done()


def make_list(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Music")
    yield from ui.tap("Playlists", "tab")
    yield from ui.tap("New playlist")
    yield from ui.write("Playlist name", params["playlist"])
    yield from ui.tap("Create", "button")
    yield Done()


def look_up_artist(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Music")
    yield from ui.reveal(params["song"], "row")
    song = find(ui.state["music"]["songs"], title=params["song"])
    assert song is not None
    yield Answer(song["artist"])


TEMPLATES: tuple[Template, ...] = (
    Template(
        name="music/play",
        app="music",
        phrasings=("Play the song {song}", "Open music and play {song}", "I want to hear {song}"),
        space=SONG,
        start=there,
        check=plays,
        oracle=play,
        max_steps=12,
        may_change=PLAYER,
    ),
    Template(
        name="music/like",
        app="music",
        phrasings=("Like the song {song}", "Open the song {song} in music and like it", "Give the song {song} a like"),
        space=SONG,
        start=there,
        check=is_liked,
        oracle=like,
        max_steps=13,
        may_change=(LIBRARY, *PLAYER),
    ),
    Template(
        name="music/add_to_playlist",
        app="music",
        phrasings=(
            "Add the song {song} to the playlist {playlist}",
            "Put {song} into my playlist {playlist}",
            "My playlist {playlist} needs the song {song}, add it",
        ),
        space={"song": SONGS, "playlist": PLAYLISTS},
        start=in_reach,
        check=lambda ending: is_in_list(ending, wanted=True),
        oracle=put_in_list,
        max_steps=15,
        may_change=(LISTS, *PLAYER),
    ),
    Template(
        name="music/take_from_playlist",
        app="music",
        phrasings=(
            "Remove the song {song} from the playlist {playlist}",
            "Take {song} out of my playlist {playlist}",
            "The playlist {playlist} should not have the song {song}, remove it",
        ),
        space={"song": SONGS, "playlist": PLAYLISTS},
        start=in_the_list,
        check=lambda ending: is_in_list(ending, wanted=False),
        oracle=take_from_list,
        max_steps=14,
        may_change=(LISTS, *PLAYER),
    ),
    Template(
        name="music/new_playlist",
        app="music",
        phrasings=(
            "Make a new playlist called {playlist}",
            "Create the playlist {playlist} in music",
            "Add a new playlist with the name {playlist}",
        ),
        space={
            "playlist": (*PLAYLISTS, "Summer", "Winter", "Kitchen", "Garden", "School", "Family", "Office", "Piano")
        },
        start=no_such_list,
        check=is_made,
        oracle=make_list,
        max_steps=15,
        may_change=(LISTS,),
    ),
    Template(
        name="music/artist",
        app="music",
        phrasings=("Who sings {song}?", "Look up the artist of the song {song}", "Which artist made the song {song}?"),
        space=SONG,
        start=there,
        check=names_artist,
        oracle=look_up_artist,
        max_steps=11,
    ),
)
