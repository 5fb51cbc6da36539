import FeedimgModel
import TestSystem
import Testing

@testable import FeedimgSettings

struct MarkedNetworksTests {
  private let folder: TemporaryFolder
  private let file: SettingsFile

  init() throws {
    folder = try TemporaryFolder()
    file = SettingsFile(folder: folder.path)
  }

  @Test func `marks are stored, changed and removed`() throws {
    _ = try file.mark(.ssid("Home"), .no)
    _ = try file.mark(.device("usb0"), .yes)
    #expect(file.read().settings.markedNetworks == [.ssid("Home"): .no, .device("usb0"): .yes])
    _ = try file.mark(.ssid("Home"), .yes)
    _ = try file.mark(.device("usb0"), nil)
    #expect(
      try folder.text(of: "settings.json") == "{\n  \"networks\": {\n    \"ssid:Home\": \"metered\"\n  }\n}\n"
    )
    _ = try file.mark(.ssid("Home"), nil)
    #expect(try folder.text(of: "settings.json") == "{}\n")
  }

  @Test func `removing a mark without a file creates none`() throws {
    _ = try file.mark(.ssid("Home"), nil)
    #expect(folder.names.isEmpty)
  }

  static let names: [NetworkName] = [
    .ssid("a:b"), .ssid("\"quoted\" \\"), .ssid("Café ☕"), .ssid(" "), .device("wlp3s0"), .ssid("device:x"),
  ]

  @Test(arguments: names)
  func `any name can be marked`(_ name: NetworkName) throws {
    #expect(NetworkName(name.text) == name)
    _ = try file.mark(name, .yes)
    #expect(file.read().settings.markedNetworks == [name: .yes])
    #expect(file.read().warnings.isEmpty)
  }

  @Test func `members of other versions and users stay`() throws {
    let before = """
      {
        "networks": {
          "bssid:02:00": {"metered": true},
          "ssid:Home": "unmetered",
          "ssid:Old": null
        },
        "future": 1.50
      }

      """
    try folder.write(before, to: "settings.json")
    #expect(file.read().settings.markedNetworks == [.ssid("Home"): .no])
    #expect(file.read().warnings.isEmpty)
    _ = try file.mark(.ssid("Home"), .yes)
    _ = try file.mark(.device("usb0"), .no)
    let after = """
      {
        "networks": {
          "bssid:02:00": {
            "metered": true
          },
          "ssid:Home": "metered",
          "ssid:Old": null,
          "device:usb0": "unmetered"
        },
        "future": 1.50
      }

      """
    #expect(try folder.text(of: "settings.json") == after)
  }

  static let wrongValues = [
    (
      #"{"ssid:a": "metred"}"#,
      "the network `ssid:a` takes `metered` or `unmetered`, not `metred`; did you mean `metered`?"
    ),
    (
      #"{"ssid:a": true}"#,
      "the network `ssid:a` takes `metered` or `unmetered`, not true or false; the mark is ignored"
    ),
    (
      #"{"ssid:a": "off", "ssid:a": "off"}"#,
      "the network `ssid:a` takes `metered` or `unmetered`, not `off`; the mark is ignored"
    ),
    (
      #"{"ssid:a": "unknown"}"#,
      "the network `ssid:a` takes `metered` or `unmetered`, not `unknown`; the mark is ignored"
    ),
    ("[]", "`networks` takes an object, not an array; all marks are ignored"),
    (#""Home""#, "`networks` takes an object, not a string; all marks are ignored"),
  ]

  @Test(arguments: wrongValues)
  func `an invalid mark is reported and does not affect the others`(_ value: String, _ message: String) throws
  {
    try folder.write("{\n  \"cache-expiry-days\": 9,\n  \"networks\": \(value)\n}\n", to: "settings.json")
    let snapshot = file.read()
    #expect(snapshot.settings.markedNetworks.isEmpty)
    #expect(snapshot.settings.cacheExpiryDays == 9)
    #expect(snapshot.warnings == ["\(file.path):3: \(message)"])
    // A new mark replaces the invalid member.
    #expect(try file.mark(.ssid("a"), .yes).warnings.isEmpty)
    #expect(file.read().settings.markedNetworks == [.ssid("a"): .yes])
  }

  @Test(.timeLimit(.minutes(10)))
  func `consumers are notified of a changed mark`() async throws {
    let store = SettingsStore(folder: folder.path)
    var changes = store.changes().makeAsyncIterator()
    #expect(await changes.next()?.markedNetworks == [:])
    try SettingsStore(folder: folder.path).mark(.ssid("Home"), .yes)
    #expect(await changes.next()?.markedNetworks == [.ssid("Home"): .yes])
    #expect(store.currentSettings().markedNetworks == [.ssid("Home"): .yes])
  }

  @Test(.timeLimit(.minutes(10)))
  func `a watcher of the marks is not called for other settings`() async throws {
    let store = SettingsStore(folder: folder.path)
    let (marks, continuation) = AsyncStream.makeStream(of: [NetworkName: Metered].self)
    let watcher = store.watchMarks { continuation.yield(store.currentSettings().markedNetworks) }
    // The thread calls older watchers first.
    var changes = store.changes().makeAsyncIterator()
    #expect(await changes.next()?.markedNetworks == [:])
    _ = try file.set(.cacheExpiryDays, to: "30")
    #expect(await changes.next()?.cacheExpiryDays == 30)
    _ = try file.mark(.ssid("Home"), .yes)
    var calls = marks.makeAsyncIterator()
    #expect(await calls.next() == [.ssid("Home"): .yes])
    withExtendedLifetime(watcher) {}
  }
}
