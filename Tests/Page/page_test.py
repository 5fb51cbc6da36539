"""The actions of a user on the page, and the expected results."""

import json
import os
import pathlib
import re
import time

import checks

# The thumbnail waits for no network, but the setting permits the original at once.
POLICY = """
| network | always original | → image   | upgrade |
|---------|-----------------|-----------|---------|
| offline | -               | cached    | online  |
| -       | yes             | original  | never   |
| -       | no              | thumbnail | on tap  |
"""


class PageTest:
    def __init__(self, browser, web, gate, folder, address, token, screenshots):
        self.browser, self.web, self.gate, self.folder = browser, web, gate, folder
        self.address, self.token, self.screenshots = address, token, screenshots
        self.failures = []
        self.start = time.monotonic()

    def run(self):
        steps = [
            self.requires_the_token, self.shows_originals_on_wifi, self.highlights_the_rows_that_decided,
            self.shows_thumbnails_on_cellular, self.upgrades_visible_images_on_wifi, self.requests_no_cached_image_again,
            self.shows_cached_images_offline, self.follows_events_of_other_clients, self.shows_the_progress_of_a_download,
            self.simulates_another_policy, self.loads_the_upgrades_that_the_service_reports, self.explains_a_decision,
            self.opens_other_items, self.opens_a_feed_longer_than_a_request, self.loads_an_original_after_its_thumbnail,
            self.shows_the_latest_image_of_the_cache, self.says_why_the_feed_cannot_be_read, self.recovers_from_errors,
            self.can_be_used_by_keyboard, self.is_accessible, self.fits_a_phone, self.fits_on_one_screenshot,
            self.looks_right_in_dark_mode, self.keeps_the_settings_of_the_user, self.contacts_only_the_service,
        ]
        for step in steps:
            title = step.__name__.replace("_", " ")
            begin = time.monotonic()
            try:
                step()
                print(f"  ✓ {title}  ({time.monotonic() - begin:.1f} s)", flush=True)
            except (AssertionError, RuntimeError) as error:
                self.failures.append(title)
                print(f"  ✗ {title}: {error}", *self.browser.errors[-3:], sep="\n    ", flush=True)
                self.screenshot(f"failure-{len(self.failures)}.png")
        print(f"screenshots are in {self.screenshots}")
        print(f"{len(steps) - len(self.failures)} of {len(steps)} passed in {time.monotonic() - self.start:.0f} s")
        return 1 if self.failures else 0

    # The visible state.

    def kinds(self):
        """Returns the number of visible images of each role."""
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
        """Waits until no image is loading."""
        self.browser.wait(
            "new Promise((done) => setTimeout(() => done(!document.querySelector('[aria-busy]')), 150))", "the images to load"
        )

    def choose(self, name, value):
        self.browser.run(f"document.querySelector('input[name=\"{name}\"][value=\"{value}\"]').click()")
        self.settle()

    def text(self, selector):
        return self.browser.run(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def show(self, text, waits=True):
        self.browser.run("document.getElementById('open-button').click()")
        self.browser.run(f"document.getElementById('open-text').value = {json.dumps(text)}")
        self.browser.run("document.querySelector('#open-form button[value=show]').click()")
        self.browser.wait("!document.getElementById('open').open", "the new items")
        if waits:
            self.settle()

    def scroll(self, cell):
        self.browser.run(f"document.querySelectorAll('.cell')[{cell}].scrollIntoView({{ block: 'start', behavior: 'instant' }})")
        self.settle()

    def reset_simulation(self):
        self.browser.run("document.querySelector('#simulation-form button[type=reset]').click()")
        self.browser.wait("!document.querySelector('.simulated')", "the end of the simulation")

    def change_settings(self, changes):
        self.browser.run(f"""
          fetch('/v1/settings', {{ method: 'PATCH', body: {json.dumps(json.dumps(changes))},
            headers: {{ Authorization: 'Bearer ' + sessionStorage.getItem('feedimg-token'), 'Content-Type': 'application/merge-patch+json' }} }})""")

    def top(self):
        self.browser.run("scrollTo({ top: 0, behavior: 'instant' })")
        self.settle()

    def screenshot(self, name, **options):
        self.browser.screenshot(self.screenshots / name, **options)

    def expect(self, holds, what):
        if not holds:
            raise AssertionError(what)

    # The steps.

    def requires_the_token(self):
        self.browser.resize(1280, 900)
        self.browser.set_color_scheme("light")
        self.browser.open(f"{self.address}/")
        self.browser.wait("document.getElementById('sign-in')?.hidden === false", "the form for the token")
        self.expect(self.browser.run("document.activeElement.id") == "token", "the field does not have the focus")
        # The browser reports the expected 401.
        self.expect(all("401" in error for error in self.browser.errors), f"{self.browser.errors}")
        self.browser.errors.clear()
        self.browser.open("about:blank")
        self.browser.open(f"{self.address}/#token={self.token}")
        self.browser.wait("document.getElementById('content')?.hidden === false", "the content")
        self.expect(self.browser.run("location.href") == f"{self.address}/", "the token stays in the URL")
        self.browser.wait("document.getElementById('connection').textContent === 'connected'", "the event stream")

    def shows_originals_on_wifi(self):
        self.browser.wait("document.querySelectorAll('.cell').length === 24", "24 cells")
        self.choose("network", "wifi")
        self.browser.wait("document.querySelectorAll('.cell[data-shown=original] img:not([hidden])').length >= 4", "originals")
        self.settle()
        kinds = self.kinds()
        self.expect(kinds.get("placeholder", 0) == 0 and kinds["original"] > kinds.get("thumbnail", 0), f"{kinds}")
        self.expect("This page simulates network = wifi" in self.text("#network"), "the network is not marked as simulated")
        reason = self.text(".cell .reason")
        self.expect(reason in ("rule 2: network is wifi", "rule 1: original is cached"), reason)
        self.screenshot("light-wifi.png", whole=False)

    def highlights_the_rows_that_decided(self):
        rows = self.browser.run("[...document.querySelectorAll('#table tbody tr')].map((row) => [row.className, row.innerText])")
        self.expect(len(rows) == 6, f"{rows}")
        decided = [number for number, (name, _) in enumerate(rows, 1) if name == "decided"]
        self.expect(set(decided) <= {1, 2} and 2 in decided, f"highlighted: {decided}")

    def shows_thumbnails_on_cellular(self):
        self.choose("network", "cellular")
        kinds = self.kinds()
        self.expect("original" in kinds, f"cached originals do not stay: {kinds}")
        self.scroll(20)
        kinds = self.kinds()
        self.expect(kinds.get("thumbnail", 0) >= 3, f"other images are not shown as thumbnails: {kinds}")
        decided = self.browser.run("[...document.querySelectorAll('#table tr.decided th')].map((head) => head.innerText)")
        self.expect("4" in decided, f"highlighted: {decided}")
        self.screenshot("light-cellular.png", whole=False)

    def upgrades_visible_images_on_wifi(self):
        before = self.kinds()
        self.choose("network", "wifi")
        self.browser.wait("document.querySelectorAll('.cell[data-shown=original]').length > 0", "originals")
        self.settle()
        after = self.kinds()
        self.expect(after["original"] > before.get("original", 0), f"{before}, then {after}")
        # Items without an original remain.
        self.expect(after.get("thumbnail", 0) <= 2, f"{after}")

    def requests_no_cached_image_again(self):
        self.top()
        self.web.take_sent()
        # A reload of the page is no reload of its images.
        self.browser.run("window.isOld = true")
        self.browser.call("Page.reload")
        self.browser.wait("!window.isOld && document.querySelectorAll('.cell img:not([hidden])').length >= 4", "images after the reload")
        self.settle()
        self.choose("network", "cellular")
        self.choose("metered", "yes")
        self.expect("original" in self.kinds(), f"{self.kinds()}")
        sent = self.web.take_sent()
        self.expect(not sent, f"the origin sent {len(sent)} cached images again")

    def shows_cached_images_offline(self):
        self.choose("network", "cellular")
        # Images that were never visible are not cached.
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
        self.expect(not self.web.take_sent(), "the origin got a request")
        decided = self.browser.run("[...document.querySelectorAll('#table tr.decided th')].map((head) => head.innerText)")
        self.expect("6" in decided, f"highlighted: {decided}")
        self.screenshot("light-offline.png", whole=False)

    def follows_events_of_other_clients(self):
        self.reset_simulation()
        self.change_settings({"data-saver": True})
        self.browser.wait("document.querySelector('.cell').cell.resolution.facts['data saver'].value === 'on'", "the new setting")
        self.choose("network", "wifi")
        self.browser.wait("document.querySelectorAll('#cache li img[src^=\"blob:\"]').length >= 6", "cached images")
        self.expect("image" in self.text("#cache-summary"), self.text("#cache-summary"))
        self.browser.wait("document.querySelectorAll('#usage rect').length > 40", "the bars of the chart")

    def shows_the_progress_of_a_download(self):
        item = json.loads((self.folder / "feed.json").read_text())[1]
        for variant in item["variants"]:
            variant["url"] += "?held"
        self.show(json.dumps(item), waits=False)
        half = "document.querySelector('%s progress:not([hidden])')?.value"
        self.browser.wait(f"Math.abs({half % '#downloads'} - 0.5) < 0.1", "half of the bar in the list")
        self.browser.wait(f"Math.abs({half % '.cell'} - 0.5) < 0.1", "half of the bar in the cell")
        self.screenshot("light-half.png", whole=False)
        self.gate.set()
        self.browser.wait("document.querySelector('.cell').dataset.shown === 'original'", "the whole image")
        self.browser.wait("document.getElementById('downloads').innerText === 'No downloads'", "the end of the download")
        self.show((self.folder / "feed.json").read_text())

    def simulates_another_policy(self):
        self.browser.run("""
          (() => {
            const select = document.getElementById('policy')
            select.value = 'data-saver'
            select.dispatchEvent(new Event('change', { bubbles: true }))
          })()""")
        self.browser.wait("document.getElementById('table-summary').innerText.startsWith('data-saver')", "the table of the other policy")
        self.settle()
        self.expect(self.browser.run("document.querySelectorAll('#table tr.decided').length") > 0, "no row is highlighted")
        self.browser.run("document.querySelector('#simulation-form button[type=reset]').click()")
        self.browser.wait("document.getElementById('table-summary').innerText.startsWith('default')", "the active table")
        self.choose("network", "wifi")

    def loads_the_upgrades_that_the_service_reports(self):
        self.reset_simulation()
        policy = self.folder / "config/feedimg/policies/default.md"
        policy.parent.mkdir(parents=True)
        policy.write_text(POLICY)
        self.browser.wait("document.querySelectorAll('#table tbody tr').length === 3", "the table of the user")
        item = json.loads((self.folder / "feed.json").read_text())[1]
        for variant in item["variants"]:
            variant["url"] += "?upgrade"
        self.show(json.dumps(item))
        self.browser.wait("document.querySelector('.cell').dataset.shown === 'thumbnail'", "the thumbnail")
        # A better decision that the service has not reported, such as after a change of the network.
        is_loading = self.browser.run("""
          (() => {
            const { cell } = document.querySelector('.cell')
            cell.setResolution({ ...cell.resolution, image: 'original', load: 'original' }, '', false)
            return cell.node.hasAttribute('aria-busy')
          })()""")
        self.expect(not is_loading, "the page does not wait for the service")
        self.change_settings({"always-load-originals-on-cellular": True})
        self.browser.wait("document.querySelector('.cell').dataset.shown === 'original'", "the original")
        self.change_settings({"always-load-originals-on-cellular": None})
        policy.unlink()
        self.browser.wait("document.querySelectorAll('#table tbody tr').length > 3", "the table of feedimg")
        self.show((self.folder / "feed.json").read_text())
        self.choose("network", "wifi")

    def explains_a_decision(self):
        self.browser.run("document.querySelector('.cell .description').click()")
        self.browser.wait("document.getElementById('explanation').open", "the explanation")
        text = self.text("#explanation")
        self.expect("Decision: original." in text and "network=" in text, text)
        self.screenshot("light-explanation.png", whole=False)
        self.browser.key("Escape")
        self.browser.wait("!document.getElementById('explanation').open", "the end of the explanation")

    def opens_other_items(self):
        feed = json.loads((self.folder / "feed.json").read_text())
        lines = "\n".join(json.dumps(item) for item in feed[:3])
        address = feed[0]["variants"][0]["url"]
        for text, count in [(lines, 3), (address, 1), (json.dumps(feed), 24)]:
            self.show(text)
            self.expect(self.browser.run("document.querySelectorAll('.cell').length") == count, f"not {count} images")
        self.browser.run("document.getElementById('open-button').click()")
        self.browser.run("document.getElementById('open-text').value = '{'")
        self.browser.run("document.querySelector('#open-form button[value=show]').click()")
        self.browser.wait("document.getElementById('open-error').innerText", "an error message")
        self.expect(self.browser.run("document.querySelectorAll('.cell').length") == 24, "the earlier items are gone")
        self.browser.key("Escape")
        self.settle()

    def opens_a_feed_longer_than_a_request(self):
        feed = json.loads((self.folder / "feed.json").read_text())
        # The service accepts requests of 1 MiB.
        self.show("\n".join(json.dumps({**item, "more": "x" * 700_000}) for item in feed[:3]))
        self.expect(self.browser.run("document.querySelectorAll('.cell img:not([hidden])').length") == 3, "not 3 images")
        self.show(json.dumps(feed))

    def loads_an_original_after_its_thumbnail(self):
        feed = (self.folder / "feed.json").read_text()
        original, thumbnail = (variant["url"] + "?after" for variant in json.loads(feed)[1]["variants"])
        item = json.dumps({"originalImage": original, "thumbnailImage": thumbnail, "variants": []})
        for network, role in [("cellular", "thumbnail"), ("wifi", "original")]:
            self.choose("network", network)
            self.show(item)
            self.browser.wait(f"document.querySelector('.cell').dataset.shown === '{role}'", f"the {role}")
            # A new cell first shows what is cached.
            self.show(feed)

    def shows_the_latest_image_of_the_cache(self):
        file = self.folder / "web/replaced.jpg"
        item = json.dumps({"originalImage": f"{self.web.base}/replaced.jpg?held"})
        tile = "[...document.querySelectorAll('#cache li')].find((tile) => tile.title.includes('/replaced.jpg'))"
        texts = [""]
        for age, picture in enumerate(sorted(file.parent.glob("*-east.jpg"))[:2]):
            file.write_bytes(picture.read_bytes())
            os.utime(file, (1e9 + age, 1e9 + age))
            self.gate.clear()
            self.browser.run(f"""
              void fetch('/v1/image?network=wifi', {{ method: 'POST', body: {json.dumps(item)},
                headers: {{ Authorization: 'Bearer ' + sessionStorage.getItem('feedimg-token'), 'Cache-Control': 'no-cache',
                  'Content-Type': 'application/json' }} }})""")
            self.browser.wait("document.querySelector('#downloads progress') !== null", "the download")
            self.gate.set()
            self.browser.wait("document.getElementById('downloads').innerText === 'No downloads'", "the end of the download")
            # The tile has the size of the image.
            self.browser.wait(f"!{json.dumps(texts)}.includes({tile}?.innerText ?? '')", "the tile of the image")
            texts.append(self.browser.run(f"{tile}.innerText"))

    def says_why_the_feed_cannot_be_read(self):
        feed = (self.folder / "feed.json").read_text()
        (self.folder / "feed.json").write_text("{")
        self.browser.run("document.getElementById('open-reset').click()")
        self.browser.wait("document.getElementById('feed-error').textContent.includes('not JSON')", "the reason")
        self.browser.errors.clear()
        (self.folder / "feed.json").write_text(feed)
        self.browser.run("document.getElementById('open-reset').click()")
        self.browser.wait("document.getElementById('feed-error').textContent === ''", "the feed")
        self.settle()

    def recovers_from_errors(self):
        # The page's requests can then be interrupted.
        script = self.browser.call("Page.addScriptToEvaluateOnNewDocument", source="""
          const working = fetch
          let events = new AbortController()
          function interruptEvents() {
            events.abort()
            events = new AbortController()
          }
          let failsToResolve = false
          window.fetch = (target, options) => {
            if (target === '/v1/events') return working(target, { ...options, signal: events.signal })
            if (failsToResolve && target.startsWith('/v1/resolve')) return Promise.reject(new Error('no decisions'))
            return working(target, options)
          }""")
        feed = (self.folder / "feed.json").read_text()
        (self.folder / "feed.json").write_text("{")
        self.browser.run("window.isOld = true")
        self.browser.call("Page.reload")
        self.browser.wait("!window.isOld && document.getElementById('connection')?.textContent === 'connected'", "the event stream")
        self.browser.wait("document.getElementById('feed-error').textContent.includes('not JSON')", "the reason")
        (self.folder / "feed.json").write_text(feed)
        self.browser.run("interruptEvents()")
        self.browser.wait("document.querySelectorAll('.cell').length === 24", "the feed, after the reconnect")
        self.browser.wait("document.getElementById('feed-error').textContent === ''", "the end of the reason")
        self.browser.run("failsToResolve = true")
        self.browser.run("document.getElementById('open-reset').click()")
        self.browser.wait("document.getElementById('feed-error').textContent === 'no decisions'", "the reason")
        self.browser.run("failsToResolve = false")
        self.choose("network", "wifi")
        self.browser.wait("document.getElementById('feed-error').textContent === ''", "the end of the reason, after a decision")
        self.browser.errors.clear()
        self.browser.call("Page.removeScriptToEvaluateOnNewDocument", **script)

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
            self.expect(focus[1] != "none" and focus[2] != "0px", f"no focus ring around {focus[0]}")
            if focus[0] == "description":
                break
        for name in ("skip", "network", "metered", "always original", "data saver", "policy", "open-button", "description"):
            self.expect(name in seen, f"Tab does not reach {name}: {seen}")
        self.browser.key("Enter")
        self.browser.wait("document.getElementById('explanation').open", "the explanation, by Enter")
        self.browser.key("Enter")
        self.browser.wait("!document.getElementById('explanation').open", "the end of the explanation, by Enter")
        self.browser.run("document.querySelector('input[name=network]:checked').focus()")
        self.browser.key("ArrowRight")
        self.settle()
        self.expect("network = ethernet" in self.text("#network"), "the arrow key has no effect")
        self.browser.key("ArrowLeft")
        self.settle()
        self.expect("network = wifi" in self.text("#network"), "the arrow key does not go back")

    def is_accessible(self):
        self.top()
        found = checks.find(self.browser)
        self.browser.set_color_scheme("dark")
        found += [f"in dark mode: {problem}" for problem in checks.find_low_contrast(self.browser)]
        self.browser.set_color_scheme("light")
        self.expect(not found, "; ".join(found))

    def fits_a_phone(self):
        self.browser.resize(390, 844)
        self.browser.open(f"{self.address}/")
        self.browser.wait("document.querySelectorAll('.cell img:not([hidden])').length >= 2", "images on a phone")
        self.settle()
        self.expect(not self.browser.run("document.getElementById('simulation').open"), "the simulation is above the images")
        wide = self.browser.run("document.documentElement.scrollWidth")
        self.expect(wide <= 390, f"the page is {wide} pixels wide")
        self.screenshot("light-phone.png")
        self.browser.set_color_scheme("dark")
        self.browser.resize(390, 844, scale=2)
        self.screenshot("dark-phone.png", whole=False)
        self.browser.resize(1280, 900)

    def fits_on_one_screenshot(self):
        feed = json.loads((self.folder / "feed.json").read_text())
        self.browser.resize(1280, 1160)
        # Three cached items and three new ones.
        new = json.loads(json.dumps(feed[-3:]).replace('?new"', '?fresh"'))
        self.choose("network", "cellular")
        self.show(json.dumps(feed[:3] + new))
        self.browser.run("document.activeElement.blur()")
        self.top()
        self.expect(self.text("#feed-summary") == "3 originals, 3 thumbnails", self.text("#feed-summary"))
        for scheme in ("dark", "light"):
            self.browser.set_color_scheme(scheme)
            self.screenshot(f"{scheme}-whole.png")
        # The picture of the README.
        self.screenshot("page.webp", whole=False, quality=82)
        self.show(json.dumps(feed))
        self.browser.resize(1280, 900)

    def looks_right_in_dark_mode(self):
        self.browser.set_color_scheme("dark")
        for network in ("offline", "cellular", "wifi"):
            self.choose("network", network)
            self.top()
            self.screenshot(f"dark-{network}.png", whole=False)
        self.browser.set_color_scheme("light")

    def keeps_the_settings_of_the_user(self):
        file = pathlib.Path(self.folder / "config/feedimg/settings.json")
        settings = json.loads(file.read_text())
        shown = {name: value for name, value in settings.items() if re.fullmatch("[a-z-]+", name)}
        # Only the setting that the test changed by the service is there.
        self.expect("always-load-originals-on-cellular" not in shown, f"{shown}")
        self.expect(json.dumps(settings).count("true") == 1, f"{settings}")

    def contacts_only_the_service(self):
        own = (self.address + "/", "blob:" + self.address, "data:", "about:")
        others = [url for url in self.browser.requests if not url.startswith(own)]
        self.expect(not others, f"requests to other servers: {others[:3]}")
        self.expect(not self.browser.errors, f"errors in the console: {self.browser.errors[:3]}")
        # The browser may store the files of the page, but no response with a URL of the feed.
        stored = b"".join(path.read_bytes() for path in self.browser.folder.glob("**/Cache/**/*") if path.is_file())
        self.expect(b"/page/page.css" in stored, "the cache of the browser has no files of the page")
        self.expect(self.web.base.encode() not in stored, "the cache of the browser has URLs of the feed")
