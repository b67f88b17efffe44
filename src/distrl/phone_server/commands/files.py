"""Programs for files and text: cat, ls, rm, mkdir, echo, grep …"""

from __future__ import annotations

import hashlib
import re
import stat
import time

from distrl.phone_server.commands.base import Call, Command
from distrl.phone_server.files import CAPACITY, FileProblem
from distrl.phone_server.phone import ServedPhone

BLOCK = 1024


async def cat(phone: ServedPhone, call: Call) -> int:
    status = 0
    if not call.args:
        call.out += call.stdin
    for path in call.args:
        if path == "/proc/uptime":
            call.say(f"{phone.power.uptime_s:.2f} {phone.power.uptime_s:.2f}")
            continue
        try:
            call.out += phone.files.read(path)
        except FileProblem as problem:
            status = call.fail(f"cat: {path}: {problem}")
    return status


async def echo(phone: ServedPhone, call: Call) -> int:
    bare = call.args[:1] == ["-n"]
    call.out += " ".join(call.args[bare:]).encode(errors="surrogateescape") + (b"" if bare else b"\n")
    return 0


async def ls(phone: ServedPhone, call: Call) -> int:
    flags, status = call.take_flags(), 0
    for path in call.args or ["/"]:
        node = phone.files.find(path)
        if node is None:
            status = call.fail(f"ls: {path}: No such file or directory")
            continue
        listed = list(phone.files.children(path)) if node.is_folder and "d" not in flags else [(path, node)]
        for name, child in listed:
            when = time.strftime("%Y-%m-%d %H:%M", time.gmtime(child.mtime))
            long = f"{stat.filemode(child.mode)} 1 shell shell {len(child.data):>8} {when} {name}"
            call.say(long if "l" in flags else name)
    return status


async def rm(phone: ServedPhone, call: Call) -> int:
    flags, status = call.take_flags(), 0
    for path in call.args:
        node = phone.files.find(path)
        if node is None:
            status = status if "f" in flags else call.fail(f"rm: {path}: No such file or directory")
        elif node.is_folder and "r" not in flags.lower():
            status = call.fail(f"rm: {path}: is a directory")
        else:
            phone.files.remove(path)
            phone.files.full = False
    return status


async def mkdir(phone: ServedPhone, call: Call) -> int:
    call.take_flags()
    for path in call.args:
        phone.files.make_folder(path, int(phone.power.now))
    return 0


async def md5sum(phone: ServedPhone, call: Call) -> int:
    for path in call.args:
        try:
            call.say(f"{hashlib.md5(phone.files.read(path), usedforsecurity=False).hexdigest()}  {path}")
        except FileProblem as problem:
            return call.fail(f"md5sum: {path}: {problem}")
    return 0


async def df(phone: ServedPhone, call: Call) -> int:
    call.take_flags()
    used = CAPACITY if phone.files.full else phone.files.used
    call.say("Filesystem       1K-blocks      Used Available Use% Mounted on")
    numbers = f"{CAPACITY // BLOCK:>9} {used // BLOCK:>9} {(CAPACITY - used) // BLOCK:>9} {100 * used // CAPACITY:>3}%"
    for folder in call.args or ["/data"]:
        call.say(f"/dev/block/dm-5  {numbers} {folder}")
    return 0


async def grep(phone: ServedPhone, call: Call) -> int:
    flags = call.take_flags()
    if not call.args:
        return call.fail("usage: grep [-EFiqvc] PATTERN [FILE...]", 2)
    pattern, paths = call.args[0], call.args[1:]
    try:
        data = b"".join(phone.files.read(path) for path in paths) if paths else call.stdin
        wanted = re.compile(re.escape(pattern) if "F" in flags else pattern, re.IGNORECASE if "i" in flags else 0)
    except (re.error, FileProblem) as problem:
        return call.fail(f"grep: {problem}", 2)
    lines = [
        line
        for line in data.decode(errors="surrogateescape").splitlines()
        if (wanted.search(line) is None) == ("v" in flags)
    ]
    if "c" in flags:
        call.say(str(len(lines)))
    elif "q" not in flags:
        for line in lines:
            call.say(line)
    return 0 if lines else 1


COMMANDS: dict[str, Command] = {
    "cat": cat, "echo": echo, "ls": ls, "rm": rm, "mkdir": mkdir, "md5sum": md5sum, "df": df, "grep": grep
}  # fmt: skip
