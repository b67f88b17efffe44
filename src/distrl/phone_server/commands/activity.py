"""`am` and `monkey`: start apps, stop them, send broadcasts."""

from __future__ import annotations

from distrl.devices.adb.task_intents import EVIDENCE, RESET
from distrl.phone_server import task_intents
from distrl.phone_server.commands import keyboards
from distrl.phone_server.commands.base import Call, Command
from distrl.phone_server.intents import BadIntent, Intent
from distrl.phone_server.packages import app_of
from distrl.phone_server.phone import ServedPhone
from distrl.types import Press

HOME = "android.intent.category.HOME"
SETTINGS = "android.settings."
"""Prefix of actions that all open the first page of the settings."""
VIEW = "android.intent.action.VIEW"
WEB = ("http://", "https://")


async def am(phone: ServedPhone, call: Call) -> int:
    name, args = (call.args[0], call.args[1:]) if call.args else ("", [])
    if name == "force-stop" and args:
        _stop(phone, args[-1])
        return 0
    if name == "get-current-user":
        call.say("0")
        return 0
    if name not in ("start", "start-activity", "broadcast"):
        return call.fail(f"Error: Unknown command: {name}", 255)
    try:
        intent = Intent.parse(args)
    except BadIntent as problem:
        return call.fail(f"Error: {problem}", 255)
    return await (_broadcast if name == "broadcast" else _start)(phone, call, intent)


async def monkey(phone: ServedPhone, call: Call) -> int:
    """Only the usual way to start an app: `monkey -p PACKAGE -c android.intent.category.LAUNCHER 1`."""
    package = call.args[call.args.index("-p") + 1] if "-p" in call.args[:-1] else ""
    app = app_of(package)
    if app not in phone.apps:
        call.say("** No activities found to run, monkey aborted.")
        return 252
    phone.open_app(app)
    call.say("Events injected: 1")
    return 0


async def _start(phone: ServedPhone, call: Call, intent: Intent) -> int:
    call.say(f"Starting: {intent}")
    app = "settings" if intent.action.startswith(SETTINGS) else app_of(intent.target)
    if intent.stop_first:
        _stop(phone, intent.target)
    if HOME in intent.categories:
        await phone.perform(Press("home"))
    elif intent.action == VIEW and intent.data.startswith(WEB) and not intent.component:
        phone.visit(intent.data)
    elif app in phone.apps:
        phone.open_app(app)
    elif intent.component:
        call.write_error("Error type 3")
        return call.fail(f"Error: Activity class {{{intent.component}}} does not exist.")
    else:
        return call.fail(f"Error: Activity not started, unable to resolve {intent}")
    if intent.wait:
        call.say("Status: ok\nComplete")
    return 0


async def _broadcast(phone: ServedPhone, call: Call, intent: Intent) -> int:
    call.say(f"Broadcasting: {intent}")
    if intent.action in (RESET, EVIDENCE):
        result, data = await task_intents.answer(phone, intent.action, intent.extras)
    else:
        result, data = await keyboards.answer(phone, intent.action, intent.extras)
    call.say(f"Broadcast completed: result={result}" + (f', data="{data}"' if data else ""))
    return 0


def _stop(phone: ServedPhone, package: str) -> None:
    app = app_of(package)
    if app in phone.apps and app != "launcher":
        phone.stop_app(app)


COMMANDS: dict[str, Command] = {"am": am, "monkey": monkey}
