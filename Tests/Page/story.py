"""A person's actions on the page, and the expected results."""

import json
import pathlib
import re
import time

import checks


class Story:
    def __init__(self, browser, web, gate, folder, address, token, pictures):
        self.browser, self.web, self.gate, self.folder = browser, web, gate, folder
        self.address, self.token, self.pictures = address, token, pictures
        self.faults = []
        self.start = time.monotonic()

    def tell(self):
        steps = [
            self.is_locked_without_the_token, self.shows_originals_on_wifi, self.lights_the_row_that_decided,
            self.shows_thumbnails_on_cellular, self.upgrades_what_is_visible_on_wifi, self.requests_no_cached_image_again,
            self.shows_what_is_cached_offline,
            self.is_told_of_what_others_do, self.shows_how_far_a_transfer_is, self.asks_by_another_policy, self.explains_a_picture, self.takes_other_items,
            self.can_be_used_by_keyboard, self.can_be_read_by_everybody, self.fits_a_phone, self.tells_all_on_one_picture,
            self.is_right_at_night,
            self.leaves_the_user_s_settings_alone, self.keeps_to_itself,
        ]
        for step in steps:
            title = step.__name__.replace("_", " ")
            begin = time.monotonic()
            try:
                step()
                print(f"  ✓ {title}  ({time.monotonic() - begin:.1f} s)", flush=True)
            except (AssertionError, RuntimeError) as fault:
                self.faults.append(title)
                print(f"  ✗ {title}: {fault}", *self.browser.faults[-3:], sep="\n    ", flush=True)
                self.picture(f"fault-{len(self.faults)}.png")
        print(f"pictures of the page are in {self.pictures}")
        print(f"{len(steps) - len(self.faults)} of {len(steps)} held in {time.monotonic() - self.start:.0f} s")
        return 1 if self.faults else 0

    # The visible state.

    def kinds(self):
        """The number of pictures of each kind on the screen."""
        return self.browser.run("""
          (() => {
            const kinds = {}
            for (const cell of document.querySelectorAll('.cell')) {
              const { top, bottom } = cell.getBoundingClientRect()
              if (bottom > 0 && top < innerHeight) kinds[cell.dataset.shown] = (kinds[cell.dataset.shown] ?? 0) + 1
            }
            return kinds
          })()""")

    def settle(self):
        """Waits until no visible picture is loading."""
        self.browser.wait(
            "new Promise((done) => setTimeout(() => done(!document.querySelector('[aria-busy]')), 150))", "all pictures to come"
        )

    def choose(self, name, value):
        self.browser.run(f"document.querySelector('input[name=\"{name}\"][value=\"{value}\"]').click()")
        self.settle()

    def text(self, selector):
        return self.browser.run(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def show(self, text, waits=True):
        self.browser.run("document.getElementById('feed-open').click()")
        self.browser.run(f"document.getElementById('open-text').value = {json.dumps(text)}")
        self.browser.run("document.querySelector('#open-form button[value=show]').click()")
        self.browser.wait("!document.getElementById('open').open", "the other pictures")
        if waits:
            self.settle()

    def scroll(self, cell):
        self.browser.run(f"document.querySelectorAll('.cell')[{cell}].scrollIntoView({{ block: 'start', behavior: 'instant' }})")
        self.settle()

    def top(self):
        self.browser.run("scrollTo({ top: 0, behavior: 'instant' })")
        self.settle()

    def picture(self, name, **options):
        self.browser.picture(self.pictures / name, **options)

    def expect(self, holds, what):
        if not holds:
            raise AssertionError(what)

    # The story.

    def is_locked_without_the_token(self):
        self.browser.size(1280, 900)
        self.browser.prefer("light")
        self.browser.open(f"{self.address}/")
        self.browser.wait("document.getElementById('door')?.hidden === false", "a question for the token")
        self.expect(self.browser.run("document.activeElement.id") == "token", "the field has no focus")
        # The test asked for the refusal, which the browser reports.
        self.expect(all("401" in fault for fault in self.browser.faults), f"{self.browser.faults}")
        self.browser.faults.clear()
        self.browser.open("about:blank")
        self.browser.open(f"{self.address}/#token={self.token}")
        self.browser.wait("document.getElementById('house')?.hidden === false", "the page to open")
        self.expect(self.browser.run("location.href") == f"{self.address}/", "the token stays in the address")
        self.browser.wait("document.getElementById('connection').textContent === 'connected'", "the events")

    def shows_originals_on_wifi(self):
        self.browser.wait("document.querySelectorAll('.cell').length === 24", "24 pictures")
        self.choose("network", "wifi")
        self.browser.wait("document.querySelectorAll('.cell[data-shown=original] img:not([hidden])').length >= 4", "originals")
        self.settle()
        kinds = self.kinds()
        self.expect(kinds.get("placeholder", 0) == 0 and kinds["original"] > kinds.get("thumbnail", 0), f"{kinds}")
        self.expect("this page asks as if network = wifi" in self.text("#network"), "the network is not said to be imagined")
        reason = self.text(".cell .reason")
        self.expect(reason in ("rule 2: network is wifi", "rule 1: original is cached"), reason)
        self.picture("light-wifi.png", whole=False)

    def lights_the_row_that_decided(self):
        rows = self.browser.run("[...document.querySelectorAll('#table tbody tr')].map((row) => [row.className, row.innerText])")
        self.expect(len(rows) == 6, f"{rows}")
        lit = [number for number, (name, _) in enumerate(rows, 1) if name == "lit"]
        self.expect(set(lit) <= {1, 2} and 2 in lit, f"lit are {lit}")

    def shows_thumbnails_on_cellular(self):
        self.choose("network", "cellular")
        kinds = self.kinds()
        self.expect("original" in kinds, f"what is cached stays: {kinds}")
        self.scroll(20)
        kinds = self.kinds()
        self.expect(kinds.get("thumbnail", 0) >= 3, f"what is new comes as thumbnails: {kinds}")
        lit = self.browser.run("[...document.querySelectorAll('#table tr.lit th')].map((head) => head.innerText)")
        self.expect("4" in lit, f"lit are {lit}")
        self.picture("light-cellular.png", whole=False)

    def upgrades_what_is_visible_on_wifi(self):
        before = self.kinds()
        self.choose("network", "wifi")
        self.browser.wait("document.querySelectorAll('.cell[data-shown=original]').length > 0", "originals")
        self.settle()
        after = self.kinds()
        self.expect(after["original"] > before.get("original", 0), f"{before}, then {after}")
        # Only the items without an original stay as they are.
        self.expect(after.get("thumbnail", 0) <= 2, f"{after}")

    def requests_no_cached_image_again(self):
        self.top()
        self.web.take_sent()
        # A reload of the page is no reload of its images.
        self.browser.run("window.isOld = true")
        self.browser.call("Page.reload")
        self.browser.wait("!window.isOld && document.querySelectorAll('.cell img:not([hidden])').length >= 4", "images after a reload")
        self.settle()
        self.choose("network", "cellular")
        self.choose("metered", "yes")
        self.expect("original" in self.kinds(), f"{self.kinds()}")
        sent = self.web.take_sent()
        self.expect(not sent, f"the origin sent {len(sent)} cached images again")

    def shows_what_is_cached_offline(self):
        self.choose("network", "cellular")
        # Images that were never in view are not cached.
        feed = json.loads((self.folder / "feed.json").read_text())
        for item in feed:
            item["id"] += "-new"
            for variant in item["variants"]:
                variant["url"] += "?new"
        (self.folder / "feed.json").write_text(json.dumps(json.loads((self.folder / "feed.json").read_text())[:6] + feed[:18]))
        self.choose("network", "offline")
        self.web.take_sent()
        self.browser.run("document.getElementById('open-reset').click()")
        self.browser.wait("document.querySelector('.cell[data-shown=placeholder] .reason')?.innerText", "placeholders")
        self.top()
        kinds = self.kinds()
        self.expect(kinds.get("original", 0) >= 4 and kinds.get("placeholder", 0) >= 2, f"{kinds}")
        self.expect(not self.web.take_sent(), "something was fetched")
        lit = self.browser.run("[...document.querySelectorAll('#table tr.lit th')].map((head) => head.innerText)")
        self.expect("6" in lit, f"lit are {lit}")
        self.picture("light-offline.png", whole=False)

    def is_told_of_what_others_do(self):
        self.browser.run("document.querySelector('#situation button[type=reset]').click()")
        self.browser.wait("!document.querySelector('.instead')", "the present situation")
        self.browser.run("""
          fetch('/v1/settings', { method: 'PATCH', body: '{"data-saver": true}',
            headers: { Authorization: 'Bearer ' + sessionStorage.getItem('feedimg-token'), 'Content-Type': 'application/merge-patch+json' } })""")
        self.browser.wait("document.querySelector('.cell').cell.resolution.facts['data saver'].value === 'on'", "the new setting")
        self.choose("network", "wifi")
        self.browser.wait("document.querySelectorAll('.shelf li img[src^=\"blob:\"]').length >= 6", "pictures of the cache")
        self.expect("image" in self.text("#cache-sum"), self.text("#cache-sum"))
        self.browser.wait("document.querySelectorAll('#usage rect').length > 40", "bars")

    def shows_how_far_a_transfer_is(self):
        item = json.loads((self.folder / "feed.json").read_text())[1]
        for variant in item["variants"]:
            variant["url"] += "?held"
        self.show(json.dumps(item), waits=False)
        half = "document.querySelector('%s progress:not([hidden])')?.value"
        self.browser.wait(f"Math.abs({half % '#transfers'} - 0.5) < 0.1", "half of it under way")
        self.browser.wait(f"Math.abs({half % '.cell'} - 0.5) < 0.1", "half of it in the cell")
        self.picture("light-half.png", whole=False)
        self.gate.set()
        self.browser.wait("document.querySelector('.cell').dataset.shown === 'original'", "the whole of it")
        self.browser.wait("document.getElementById('transfers').innerText.startsWith('Nothing')", "the end of the transfer")
        self.show((self.folder / "feed.json").read_text())

    def asks_by_another_policy(self):
        self.browser.run("""
          (() => {
            const select = document.getElementById('policy')
            select.value = 'data-saver'
            select.dispatchEvent(new Event('change', { bubbles: true }))
          })()""")
        self.browser.wait("document.getElementById('table-name').innerText.startsWith('data-saver')", "the other table")
        self.settle()
        self.expect(self.browser.run("document.querySelectorAll('#table tr.lit').length") > 0, "no row is lit")
        self.browser.run("document.querySelector('#situation button[type=reset]').click()")
        self.browser.wait("document.getElementById('table-name').innerText.startsWith('default')", "the table in force")
        self.choose("network", "wifi")

    def explains_a_picture(self):
        self.browser.run("document.querySelector('.cell .why').click()")
        self.browser.wait("document.getElementById('why').open", "the reasons")
        text = self.text("#why")
        self.expect("Decided: original." in text and "network=" in text, text)
        self.picture("light-why.png", whole=False)
        self.browser.key("Escape")
        self.browser.wait("!document.getElementById('why').open", "the reasons to go")

    def takes_other_items(self):
        feed = json.loads((self.folder / "feed.json").read_text())
        lines = "\n".join(json.dumps(item) for item in feed[:3])
        address = feed[0]["variants"][0]["url"]
        for text, count in [(lines, 3), (address, 1), (json.dumps(feed), 24)]:
            self.show(text)
            self.expect(self.browser.run("document.querySelectorAll('.cell').length") == count, f"not {count} pictures")
        self.browser.run("document.getElementById('feed-open').click()")
        self.browser.run("document.getElementById('open-text').value = '{'")
        self.browser.run("document.querySelector('#open-form button[value=show]').click()")
        self.browser.wait("document.getElementById('open-word').innerText", "a word on what is wrong")
        self.expect(self.browser.run("document.querySelectorAll('.cell').length") == 24, "the others are gone")
        self.browser.key("Escape")
        self.settle()

    def can_be_used_by_keyboard(self):
        self.top()
        self.browser.run("document.activeElement.blur()")
        seen = []
        for _ in range(40):
            self.browser.key("Tab")
            focus = self.browser.run("""
              (() => {
                const node = document.activeElement
                const ring = node.matches('.choices input') ? node.nextElementSibling : node
                return [node.id || node.name || node.className || node.type, getComputedStyle(ring).outlineStyle, getComputedStyle(ring).outlineWidth]
              })()""")
            seen.append(focus[0])
            self.expect(focus[1] != "none" and focus[2] != "0px", f"no ring around {focus[0]}")
            if focus[0] == "why":
                break
        for name in ("skip", "network", "metered", "always original", "data saver", "policy", "feed-open", "why"):
            self.expect(name in seen, f"no way to {name} by tab: {seen}")
        self.browser.key("Enter")
        self.browser.wait("document.getElementById('why').open", "the reasons, by Enter")
        self.browser.key("Enter")
        self.browser.wait("!document.getElementById('why').open", "the reasons to go, by Enter")
        self.browser.run("document.querySelector('input[name=network]:checked').focus()")
        self.browser.key("ArrowRight")
        self.settle()
        self.expect("network = ethernet" in self.text("#network"), "arrows change nothing")
        self.browser.key("ArrowLeft")
        self.settle()
        self.expect("network = wifi" in self.text("#network"), "arrows do not lead back")

    def can_be_read_by_everybody(self):
        self.top()
        found = checks.find(self.browser)
        self.browser.prefer("dark")
        found += [f"at night: {fault}" for fault in checks.find_faint_text(self.browser)]
        self.browser.prefer("light")
        self.expect(not found, "; ".join(found))

    def fits_a_phone(self):
        self.browser.size(390, 844)
        self.browser.open(f"{self.address}/")
        self.browser.wait("document.querySelectorAll('.cell img:not([hidden])').length >= 2", "pictures on a phone")
        self.settle()
        self.expect(not self.browser.run("document.getElementById('what-if').open"), "the switches stand before the pictures")
        wide = self.browser.run("document.documentElement.scrollWidth")
        self.expect(wide <= 390, f"the page is {wide} pixels wide")
        self.picture("light-phone.png")
        self.browser.prefer("dark")
        self.browser.size(390, 844, scale=2)
        self.picture("dark-phone.png", whole=False)
        self.browser.size(1280, 900)

    def tells_all_on_one_picture(self):
        feed = json.loads((self.folder / "feed.json").read_text())
        self.browser.size(1280, 1160)
        # Three that were seen, and three that were not.
        new = json.loads(json.dumps(feed[-3:]).replace('?new"', '?fresh"'))
        self.choose("network", "cellular")
        self.show(json.dumps(feed[:3] + new))
        self.browser.run("document.activeElement.blur()")
        self.top()
        self.expect(self.text("#feed-sum") == "3 originals, 3 thumbnails", self.text("#feed-sum"))
        for scheme in ("dark", "light"):
            self.browser.prefer(scheme)
            self.picture(f"{scheme}-whole.png")
        # The picture in the README.
        self.picture("page.webp", whole=False, quality=82)
        self.show(json.dumps(feed))
        self.browser.size(1280, 900)

    def is_right_at_night(self):
        self.browser.prefer("dark")
        for network in ("offline", "cellular", "wifi"):
            self.choose("network", network)
            self.top()
            self.picture(f"dark-{network}.png", whole=False)
        self.browser.prefer("light")

    def leaves_the_user_s_settings_alone(self):
        file = pathlib.Path(self.folder / "config/feedimg/settings.json")
        settings = json.loads(file.read_text())
        told = {name: value for name, value in settings.items() if re.fullmatch("[a-z-]+", name)}
        # Except for the setting that another client changed on purpose.
        self.expect("always-load-originals-on-cellular" not in told, f"{told}")
        self.expect(json.dumps(settings).count("true") == 1, f"{settings}")

    def keeps_to_itself(self):
        own = (self.address + "/", "blob:" + self.address, "data:", "about:")
        strange = [url for url in self.browser.requests if not url.startswith(own)]
        self.expect(not strange, f"asked elsewhere: {strange[:3]}")
        self.expect(not self.browser.faults, f"the console says: {self.browser.faults[:3]}")
        # The browser may keep the files of the page, and no response with a URL of the feed.
        kept = b"".join(path.read_bytes() for path in self.browser.folder.glob("**/Cache/**/*") if path.is_file())
        self.expect(b"/page/page.css" in kept, "the browser keeps no files of the page")
        self.expect(self.web.base.encode() not in kept, "the browser keeps URLs of the feed")
