import FeedimgModel
import Glibc
import TestSystem
import Testing

@testable import FeedimgSettings

struct SettingsStoreTests {
  private let folder: TemporaryFolder
  private let store: SettingsStore
  /// Changes the file as another process would.
  private let other: SettingsFile

  init() throws {
    folder = try TemporaryFolder()
    store = SettingsStore(folder: folder["feedimg"])
    other = SettingsFile(folder: folder["feedimg"])
  }

  /// A store that keeps what it has read until the file changes, or that reads each time, as after a recent change.
  private func makeStore(keeps: Bool) -> SettingsStore {
    SettingsStore(folder: folder["feedimg"]) { keeps ? .infinity : 0 }
  }

  @Test(arguments: [true, false])
  func `the next call sees a change by another process`(keeps: Bool) throws {
    let store = makeStore(keeps: keeps)
    #expect(store.currentSettings() == UserSettings())
    #expect(folder.names.isEmpty)
    for days in 2...40 {
      _ = try other.set(.cacheExpiryDays, to: String(days))
      for _ in 0..<2 { #expect(store.currentSettings().cacheExpiryDays == days) }
    }
    _ = try other.unset(.cacheExpiryDays)
    #expect(store.currentSettings() == UserSettings())
  }

  @Test func `while an editor replaces the file, programs do not follow the defaults`() async throws {
    _ = try other.set(.cacheExpiryDays, to: "2")
    try folder.write(#"{"cache-expiry-days": 3}"#, to: "new.json")
    let (new, path) = (folder["new.json"], folder["feedimg/settings.json"])
    let store = SettingsStore(folder: folder["feedimg"], pause: { rename(new, path) })
    var changes = store.changes().makeAsyncIterator()
    #expect(await changes.next()?.cacheExpiryDays == 2)
    rename(path, "\(path)~")
    #expect(await changes.next()?.cacheExpiryDays == 3)
  }

  @Test(arguments: [true, false])
  func `the next call sees a change by this process`(keeps: Bool) throws {
    let store = makeStore(keeps: keeps)
    for days in 2...20 {
      try store.set(.cacheExpiryDays, to: String(days))
      #expect(store.currentSettings().cacheExpiryDays == days)
      #expect(store.value(of: .cacheExpiryDays) == String(days))
    }
    try store.unset(.cacheExpiryDays)
    #expect(store.value(of: .cacheExpiryDays) == "7")
  }

  @Test func `a warning is reported once, and again after it disappeared`() throws {
    for _ in 0..<2 {
      _ = try other.unset(.cacheExpiryDays)
      mkdir(folder["feedimg"], 0o700)
      try folder.write(#"{"cache-expiry-days": 0}"#, to: "feedimg/settings.json")
      for count in [1, 0] {
        _ = store.currentSettings()
        #expect(store.takeWarnings().count == count)
      }
      try folder.write("{}", to: "feedimg/settings.json")
      _ = store.currentSettings()
      #expect(store.takeWarnings().isEmpty)
    }
  }

  @Test func `the list has every setting with its value and whether it is set`() throws {
    try store.set(.downloadLimit, to: "1 MiB")
    let entries = store.entries()
    #expect(entries.map(\.key) == SettingKey.allCases)
    #expect(entries.filter(\.isSet).map(\.key) == [.downloadLimit])
    let values = [
      "no", "512 MiB", "128 MiB", "256 MiB", "automatic", "7", "1 MiB", "no", "none", "1",
    ]
    #expect(entries.map(\.value) == values)
  }

  @Test func `a value equal to the default counts as set`() throws {
    try store.set(.cacheExpiryDays, to: "7")
    #expect(store.entries().filter(\.isSet).map(\.key) == [.cacheExpiryDays])
  }

  @Test func `a corrupt file is reported once, and its copy on replacement`() throws {
    mkdir(folder["feedimg"], 0o700)
    try folder.write("{", to: "feedimg/settings.json")
    #expect(store.currentSettings() == UserSettings())
    #expect(store.takeWarnings().count == 1)
    #expect(store.currentSettings() == UserSettings())
    #expect(store.takeWarnings().isEmpty)
    try store.set(.cacheExpiryDays, to: "30")
    #expect(store.takeWarnings().map { $0.hasSuffix(".corrupt-1`") } == [true])
    #expect(store.currentSettings().cacheExpiryDays == 30)
    #expect(store.takeWarnings().isEmpty)
  }

  @Test(arguments: ["{", "[]", #"{"cache-expiry-days": 3 "x": 1}"#])
  func `the earlier settings stay in force while the file is not valid JSON`(content: String) throws {
    try store.set(.cacheExpiryDays, to: "30")
    try store.mark(.ssid("Home"), .yes)
    let valid = store.currentSettings()
    #expect(store.takeWarnings().isEmpty)
    for _ in 0..<2 {
      try folder.write(content, to: "feedimg/settings.json")
      #expect(store.currentSettings() == valid)
      #expect(store.entries().filter(\.isSet).map(\.key) == [.cacheExpiryDays])
      let warnings = store.takeWarnings()
      #expect(warnings.map { $0.hasSuffix("; the earlier settings stay in force") } == [true], "\(warnings)")
      #expect(store.takeWarnings().isEmpty, "told once")
      try folder.write(
        #"{"cache-expiry-days": 30, "networks": {"ssid:Home": "metered"}}"#,
        to: "feedimg/settings.json"
      )
      #expect(store.currentSettings() == valid)
      #expect(store.takeWarnings().isEmpty)
    }
    try folder.write(content, to: "feedimg/settings.json")
    #expect(store.currentSettings() == valid)
    unlink(folder["feedimg/settings.json"])
    #expect(store.currentSettings() == UserSettings(), "a missing file means the defaults")
  }

  @Test(arguments: [nil, "", " \n"] as [String?])
  func `a file that is missing or blank while an editor saves does not replace the last valid one`(
    content: String?
  ) throws {
    try store.set(.cacheExpiryDays, to: "30")
    unlink(folder["feedimg/settings.json"])
    if let content { try folder.write(content, to: "feedimg/settings.json") }
    #expect(store.currentSettings() == UserSettings())
    try folder.write("{", to: "feedimg/settings.json")
    #expect(store.currentSettings().cacheExpiryDays == 30)
    try folder.write("{}", to: "feedimg/settings.json")
    #expect(store.currentSettings() == UserSettings())
    try folder.write("{", to: "feedimg/settings.json")
    #expect(store.currentSettings() == UserSettings(), "an object without members is valid")
  }

  @Test func `a change keeps the other settings in force while the file is not valid JSON`() throws {
    try store.set(.downloadLimit, to: "5 MB")
    try store.mark(.ssid("Home"), .yes)
    try folder.write("{", to: "feedimg/settings.json")
    try store.set(.cacheExpiryDays, to: "9")
    #expect(store.entries().filter(\.isSet).map(\.key) == [.cacheExpiryDays, .downloadLimit])
    #expect(store.currentSettings().markedNetworks == [.ssid("Home"): .yes])
    #expect(other.read().settings == store.currentSettings())
    #expect(try folder.text(of: "feedimg/settings.json.corrupt-1") == "{")
    try folder.write("[", to: "feedimg/settings.json")
    try store.mark(.ssid("Home"), nil)
    #expect(store.entries().filter(\.isSet).map(\.key) == [.cacheExpiryDays, .downloadLimit])
    #expect(other.read().settings == store.currentSettings())
    #expect(store.currentSettings().markedNetworks.isEmpty)
  }

  @Test func `a store that has read no valid file uses the defaults`() throws {
    mkdir(folder["feedimg"], 0o700)
    for content in ["{", "[]"] {
      try folder.write(content, to: "feedimg/settings.json")
      #expect(store.currentSettings() == UserSettings())
      #expect(store.takeWarnings().map { $0.hasSuffix("; feedimg uses the defaults") } == [true])
    }
  }

  @Test func `a warning is reported although it disappeared before anyone asked`() throws {
    mkdir(folder["feedimg"], 0o700)
    try folder.write("{", to: "feedimg/settings.json")
    try store.set(.cacheExpiryDays, to: "30")
    #expect(store.currentSettings().cacheExpiryDays == 30)
    #expect(store.takeWarnings().map { $0.hasSuffix(".corrupt-1`") } == [true])
  }

  @Test func `concurrent readers never see an older value again`() throws {
    try store.set(.cacheExpiryDays, to: "1")
    let other = other
    let failures = Failures()
    onThreads(4) { number in
      if number == 0 {
        for days in 2...30 { _ = try? other.set(.cacheExpiryDays, to: String(days)) }
        return failures.finish()
      }
      var last = 1
      while !failures.isFinished {
        let days = store.currentSettings().cacheExpiryDays
        if days < last { failures.add("from \(last) to \(days)") }
        last = days
      }
    }
    #expect(failures.all == [])
    #expect(store.currentSettings().cacheExpiryDays == 30)
  }
}
