import FeedimgModel
import FeedimgSystem
import FeedimgTransfer
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// Images on a host that is silent for a while, on an unchanged network.
@Suite(.timeLimit(.minutes(10))) struct SilentHostTests {
  /// Hosts whose name begins with `silent` do not respond until the test says so.
  ///
  /// `moved` redirects to the image on the `silent` host. Others respond.
  private final class Hosts: Downloading {
    let asked = RecordedValues<String>()
    let isRepaired = Atomic(false)
    /// The host that responds early.
    private let repaired = Mutex<String?>(nil)

    func download(
      _ request: DownloadRequest,
      into receiver: any BodyReceiving
    ) async throws(LoadError) -> ResponseHead {
      asked.add(request.url.text)
      let isMoved = request.url.host.hasPrefix("moved")
      if isMoved, let next = try? ImageURL(request.url.text.replacing("moved", with: "silent")) {
        receiver.note(.redirected(next))
      }
      let isWell = isRepaired.load(ordering: .acquiring) || repaired.withLock { $0 == request.url.host }
      guard isWell || !isMoved && !request.url.host.hasPrefix("silent") else {
        throw LoadError(.timeout, url: request.url, message: "no response came within 20 s")
      }
      let fields = HTTPFields([.init(name: "Content-Type", value: "image/jpeg")])
      let count = SampleImage.jpeg.count
      let head = ResponseHead(status: 200, fields: fields, url: request.url, contentLength: count)
      try receiver.begin(head)
      try receiver.receive(SampleImage.jpeg[...])
      return head
    }

    func repair() { isRepaired.store(true, ordering: .releasing) }
    func repair(only host: String) { repaired.withLock { $0 = host } }
    func fallSilent() { isRepaired.store(false, ordering: .releasing) }

    func count(of item: FeedItem) -> Int { asked.all.count { $0 == item.original?.url.text } }
  }

  private let time = ManualTime()
  private let hosts = Hosts()

  private func item(_ name: String, host: String = "silent", thumbnail: Bool = false) throws -> FeedItem {
    let url = "http://\(host).example/\(name)"
    return try TestLoader.item(original: url, thumbnail: thumbnail ? url + "-small" : nil)
  }

  /// Shows each item in a slot after the slot before it has succeeded or failed.
  private func slots(_ items: [FeedItem], _ test: TestLoader) async -> [ImageSlot] {
    var slots: [ImageSlot] = []
    for item in items {
      let slot = test.loader.slot()
      slot.show(item)
      await settle([slot])
      slots.append(slot)
    }
    return slots
  }

  /// Advances the clock until no slot loads.
  private func settle(_ slots: [ImageSlot]) async {
    while slots.contains(where: { $0.presentation?.isLoading != false }) { await Task.yield() }
  }

  /// Advances the clock from wait to wait until the condition holds.
  ///
  /// An open circuit may last for minutes.
  private func pass(until isSo: () -> Bool) async {
    while !isSo() {
      time.passToNext()
      await Task.yield()
    }
  }

  private func show(_ slots: [ImageSlot], _ image: ShownImage) -> Bool {
    slots.allSatisfy { $0.presentation?.shown == image && $0.presentation?.isLoading == false }
  }

  @Test func `slots load their images when the host responds again, with one request each`() async throws {
    let test = try TestLoader(downloader: hosts, time: time.time)
    let items = try (0..<8).map { try item("\($0)") }
    let slots = await slots(items, test)
    #expect(test.loader.resolve(items[0]).situation.network == .wifi, "one host is not the network")
    #expect(slots.allSatisfy { $0.presentation?.error != nil })
    let before = items.map(hosts.count)
    hosts.repair()
    await pass { show(slots, .original) }
    #expect(zip(items, before).allSatisfy { hosts.count(of: $0) == $1 + 1 })
    #expect(slots.allSatisfy { $0.presentation?.error == nil })
  }

  /// Advances the clock while this many wait, until one slot has woken and probed the host.
  private func passToTrial(when count: Int, _ test: TestLoader) async {
    let (failures, asked) = (test.loader.resources.transport.retries, hosts.asked.all.count)
    while true {
      await Task.yield()
      let due = await Self.due(failures, when: count)
      // A slot may have woken, asked and subscribed again since the clock advanced.
      guard hosts.asked.all.count == asked else { return }
      guard time.sleepers > 0, let due else { continue }
      time.pass(max(due - time.time.now(), .milliseconds(100)))
    }
  }

  /// The next wake, read in one step with the number of subscribers.
  @PipelineActor private static func due(_ failures: RetryController, when count: Int) -> Duration? {
    failures.subscriberCount >= count ? failures.nextWake : nil
  }

  @Test func `one slot at a time probes a silent host, at growing intervals`() async throws {
    let test = try TestLoader(downloader: hosts, time: time.time)
    let slots = await slots(try (0..<8).map { try item("\($0)") }, test)
    for _ in 1...4 { await passToTrial(when: slots.count, test) }
    // Waits of 2, 4, 8 and 16 s, each at least half as long.
    #expect(time.time.now() >= .seconds(15))
    #expect(Set(hosts.asked.all.suffix(4)).count == 4, "each slot probed once before any slot probed twice")
  }

  @Test func `the target of redirects is also probed at growing intervals`() async throws {
    let test = try TestLoader(downloader: hosts, time: time.time)
    let slots = await slots(try (0..<8).map { try item("\($0)", host: "moved") }, test)
    let asked = hosts.asked.all.count
    for _ in 1...4 { await passToTrial(when: slots.count, test) }
    #expect(time.time.now() >= .seconds(15))
    #expect(hosts.asked.all.count == asked + 4)
    hosts.repair()
    await pass { show(slots, .original) }
  }

  @Test func `slots whose probes failed load their images as soon as the others`() async throws {
    let test = try TestLoader(downloader: hosts, time: time.time)
    let slots = await slots(try (0..<6).map { try item("\($0)") }, test)
    for _ in 1...9 { await passToTrial(when: slots.count, test) }
    hosts.repair()
    await passToTrial(when: slots.count, test)
    let now = time.time.now()
    while !show(slots, .original) { await Task.yield() }
    #expect(time.time.now() == now)
  }

  @Test func `a single slot on a silent host retries`() async throws {
    let test = try TestLoader(downloader: hosts, time: time.time)
    let slots = await slots([try item("a")], test)
    #expect(hosts.asked.all.count == 1)
    hosts.repair()
    await pass { show(slots, .original) }
    #expect(hosts.asked.all.count == 2)
    #expect(time.time.now() >= .seconds(5))
  }

  @Test func `a response to any caller wakes the loads that wait for the host`() async throws {
    let test = try TestLoader(downloader: hosts, time: time.time)
    let slots = await slots(try (0..<3).map { try item("\($0)") }, test)
    hosts.repair()
    _ = try await test.loader.load(try item("other"))
    while !show(slots, .original) { await Task.yield() }
    #expect(hosts.asked.all.count == 7)
    #expect(time.time.now() == .zero)
  }

  @Test func `a slot that is hidden or shows something else does not wake`() async throws {
    let test = try TestLoader(downloader: hosts, time: time.time)
    let items = try (0..<8).map { try item("\($0)") }
    var slots = await slots(items, test)
    slots[0].priority = .near
    slots[1].clear()
    slots[2].show(try item("well", host: "well"))
    _ = slots.removeLast()
    let (out, others) = (slots[0], Array(slots[2...]))
    let before = items.map(hosts.count)
    hosts.repair()
    await pass { show(others, .original) }
    #expect([0, 1, 2, 7].allSatisfy { hosts.count(of: items[$0]) == before[$0] })
    #expect(out.presentation?.shown == .placeholder)
    out.priority = .visible
    await pass { show([out], .original) }
  }

  @Test func `the thumbnail of a silent host is shown at once as offline, and other hosts work`() async throws
  {
    let test = try TestLoader(.cellular, downloader: hosts, time: time.time)
    let items = try (0..<7).map { try item("\($0)", thumbnail: $0 > 0) }
    hosts.repair()
    for item in items.dropFirst() { #expect(try await test.loader.load(item).variant.role == .thumbnail) }
    hosts.fallSilent()
    // Another network clears the failures, so no load may fail before the change is known.
    await test.become(.wifi)
    let early = await slots(Array(items[1..<6]), test)
    #expect(show(early, .thumbnail))
    let asked = hosts.asked.all.count
    let (late, bare, well) = (test.loader.slot(), test.loader.slot(), test.loader.slot())
    late.show(items[6])
    bare.show(items[0])
    well.show(try item("a", host: "well"))
    await settle([late, bare, well])
    #expect(show([late], .thumbnail) && show([bare], .placeholder) && show([well], .original))
    #expect(
      late.presentation?.error?.message.hasPrefix("the host failed before; requests resume in ") == true
    )
    #expect(hosts.asked.all.count == asked + 1, "the working host")
    hosts.repair()
    await pass { show(early + [late, bare], .original) }
  }

  @Test func `a prefetch that waits for the network loses no image on a silent host`() async throws {
    let test = try TestLoader(downloader: hosts, time: time.time, tries: 2)
    let items = try (0..<12).map { try item("\($0)") } + [try item("a", host: "well")]
    let prefetch = test.loader.prefetch(items, waitsForNetwork: true)
    await pass { prefetch.progress.waiting + prefetch.progress.done == 13 }
    for _ in 1...2 {
      await passToTrial(when: 1, test)
      while prefetch.progress.waiting + prefetch.progress.done < 13 { await Task.yield() }
    }
    #expect(prefetch.progress.failed == 0)
    hosts.repair()
    await passToTrial(when: 1, test)
    let progress = await prefetch.finish()
    #expect(progress.fetched == 13, "\(progress)")
  }

  @Test func `a prefetch that has ended no longer waits for any host`() async throws {
    let test = try TestLoader(downloader: hosts, time: time.time, tries: 2)
    let items = try (0..<12).map { try item("\($0)") }
    let prefetch = test.loader.prefetch(items, waitsForNetwork: true)
    await pass { prefetch.progress.waiting == 12 }
    while await test.loader.resources.transport.retries.subscriberCount == 0 { await Task.yield() }
    // Another program fetches them.
    let other = try TestLoader(
      downloader: HeldDownloader(holding: { _ in false }),
      folder: test.folder,
      time: ManualTime().time
    )
    for item in items { #expect(try await other.loader.load(item).source == .network) }
    await test.become(.ethernet)
    #expect(await prefetch.finish().cached == 12)
    while await test.loader.resources.transport.retries.subscriberCount > 0 { await Task.yield() }
    // Keeps the prefetch alive until here.
    prefetch.stop()
  }

  @Test func `a slot whose original and thumbnail fail waits for both hosts`() async throws {
    let test = try TestLoader(downloader: hosts, time: time.time)
    var item = try item("a", host: "silent")
    item.thumbnail = ImageVariant(role: .thumbnail, url: try ImageURL("http://silent-too.example/a-small"))
    let slots = await slots([item], test)
    #expect(show(slots, .placeholder) && hosts.asked.all.count == 2)
    hosts.repair(only: "silent-too.example")
    _ = try await test.loader.load(try self.item("b", host: "silent-too"))
    while !show(slots, .thumbnail) { await Task.yield() }
    #expect(time.time.now() == .zero)
    hosts.repair()
    await pass { show(slots, .original) }
  }
}
