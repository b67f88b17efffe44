"""Names of people and texts of messages, notes and mails, used by the phone's apps and by goals.

Contacts, messages, mail, calendar and notes draw from the same pools, so that one person is met in several apps and
what a goal names stands among its like. Words are short and few: a small model learns to read them all.
"""

from __future__ import annotations

import random

from distrl.types import Tree


def words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def phrases(text: str) -> tuple[str, ...]:
    return tuple(phrase.strip() for phrase in text.split(","))


NAMES = words(
    "Ada Alice Ben Bruno Chloe Clara David Diego Elena Emma Felix Frank Gina Grace Henry Hugo Iris Ivan Jack "
    "Julia Karen Kevin Laura Leo Maria Martin Nina Nora Oscar Paula Quinn Rosa Sam Tina Uma Victor Wendy Xavier "
    "Yara Zoe"
)

CITIES = words("Athens Berlin Dublin Lisbon London Madrid Oslo Paris Prague Rome Tokyo Vienna")

SENTENCES = phrases(
    "On my way, See you soon, Call me later, Happy birthday, Good morning, Good night, Thank you, Running late, "
    "Dinner is ready, Lunch at noon, Where are you, Bring the keys, All is well, Open the door, Buy some bread, "
    "Feed the cat, Meet me outside, I am home"
)
"""What messages, mails and notes say."""

SUBJECTS = phrases(
    "Summer plans, New job, Team photo, Garden party, Train tickets, Old books, Weekend trip, Car keys, "
    "Movie night, House rent, Family dinner, School news"
)
"""Of mails."""

EVENTS = phrases(
    "Dentist, Haircut, Yoga class, Piano lesson, Team meeting, Job interview, Book club, Football game, "
    "Birthday party, Flight home, Movie night, Garden work, Swimming, Breakfast, Family dinner, Summer party, "
    "Work lunch, Weekend trip"
)

PLACES = words("Office Home Park Cafe School Museum Station Hotel Library Beach")

DAYS = words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")

NOTES = phrases(
    "Ideas, Recipes, Gift list, Work plan, Travel plan, House rules, Book list, Door code, Wine names, "
    "Good films, Phone bill, Bus times, Dream, Songs, Lost things, Quotes, Team names, "
    "Summer plans, Movie list, Old books"
)
"""Titles of notes that hold a text."""

LISTS = words("Shopping Packing Party Weekend Kitchen Cleaning")
"""Titles of notes that hold a check list."""

ITEMS = words("Milk Bread Eggs Apples Cheese Butter Coffee Rice Soap Towels Socks Candles Paper Water Flowers Juice")
"""Of check lists."""


def phone_number(rng: random.Random) -> str:
    return f"555-{rng.randrange(100, 1000):04d}"


def mail_address(name: str) -> str:
    return f"{name.lower()}@post.net"


def contact(name: str, rng: random.Random) -> Tree:
    """A person's entry in the address book, without a star."""
    return {
        "name": name,
        "phone": phone_number(rng),
        "mail": mail_address(name),
        "city": rng.choice(CITIES),
        "star": False,
    }
