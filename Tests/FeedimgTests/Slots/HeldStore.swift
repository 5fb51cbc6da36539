import FeedimgHTTPCache
import FeedimgModel
import LoopbackServer
import Synchronization

/// A cache whose reads of one key a test holds back, and whose look-ups it counts.
final class HeldStore: ImageStoring {
  private let store: any ImageStoring
  private let held: String
  private let (begun, gate) = (Gate(), Gate())
  private let count = Atomic(0)
  private let lookUpCount = Atomic(0)

  init(_ store: any ImageStoring, holding key: String) { (self.store, held) = (store, key) }

  /// The number of reads of the key.
  var reads: Int { count.load(ordering: .relaxed) }

  /// The number of look-ups, each for any number of keys.
  var lookUps: Int { lookUpCount.load(ordering: .relaxed) }

  /// Returns when a read of the key has begun.
  func waitForRead() { begun.wait() }

  /// Lets all reads continue.
  func release() { gate.open() }

  func read(_ key: String, for request: HTTPFields?) -> (image: StoredImage, bytes: [UInt8])? {
    hold(key)
    return store.read(key, for: request)
  }

  private func hold(_ key: String) {
    guard key == held else { return }
    count.add(1, ordering: .relaxed)
    begun.open()
    gate.wait()
  }

  func contains(_ keys: [String]) -> [Bool] {
    lookUpCount.add(1, ordering: .relaxed)
    return store.contains(keys)
  }
  var removals: Int { store.removals }
  func image(of key: String) -> StoredImage? { store.image(of: key) }
  func noteUse(of key: String, for request: HTTPFields, times: Int) {
    store.noteUse(of: key, for: request, times: times)
  }
  func follow(_ settings: UserSettings) { store.follow(settings) }
  func response(for key: String, to request: HTTPFields?) -> StoredResponse? {
    store.response(for: key, to: request)
  }
  func refresh(
    _ key: String,
    validating stored: StoredResponse,
    response: StoredResponse
  ) throws(CacheError) -> StoredResponse? {
    try store.refresh(key, validating: stored, response: response)
  }
  func remove(_ key: String) throws(CacheError) -> Bool { try store.remove(key) }
  func clear() throws(CacheError) { try store.clear() }
  var hasPartialDownloads: Bool { store.hasPartialDownloads }
  func partialDownload(of key: String) -> PartialDownload? { store.partialDownload(of: key) }
  func removePartialDownload(of key: String) { store.removePartialDownload(of: key) }
  func makeWriter(since removals: Int) throws(CacheError) -> any ImageWriting {
    try store.makeWriter(since: removals)
  }
}
