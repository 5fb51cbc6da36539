import FeedimgJSON
import FeedimgModel
import FeedimgSystem
import Synchronization

/// A measured bandwidth, with its network and time.
package struct BandwidthMeasurement: Sendable, Hashable {
  var bitsPerSecond: Int
  /// The identity of the network; see ``NetworkState/pathIdentity``.
  var network: String
  /// The time of the measurement, in seconds since 1970.
  var time: Double

  /// The age after which a measurement is discarded, in seconds.
  static let longestAge = 86_400.0

  /// Returns whether the measurement is valid on a network at a time; setting the clock back invalidates it.
  func holds(on network: String, at now: Double) -> Bool {
    self.network == network && (0..<Self.longestAge).contains(now - time)
  }
}

/// Keeps the last bandwidth between runs, for programs that decide before their first transfer.
///
/// The measurement is stored in one small file. It is valid for a day, on the network where it was made. Two
/// networks with the same device and router count as one until the next transfer measures again.
package final class BandwidthMemory: Sendable {
  private struct State {
    var isRead = false
    var latest: BandwidthMeasurement?
    var written: BandwidthMeasurement?
    /// When ``note(_:at:)`` last asked for a flush.
    var flushedAt: Double?
  }

  private let filePath: String
  /// Guards the measurement; held across one read of the file, but across no write.
  private let state = Mutex(State())
  /// Held while the file is written, so that the end of the process waits for it.
  private let writing = Mutex(())

  /// The longest time between two flushes, in seconds.
  private static let longestDelay = 60.0

  /// Makes a memory; reads and creates nothing before it is needed.
  package init(folder: String) { filePath = "\(folder)/bandwidth.json" }

  /// Records the latest measurement without touching the file.
  ///
  /// - Returns: Whether to call ``flush()`` now; true at most once a minute, and only for a measurement that
  ///   is not written yet.
  func note(_ latest: BandwidthMeasurement, at now: Double) -> Bool {
    state.withLock { state in
      state.isRead = true
      state.latest = latest
      guard latest != state.written else { return false }
      let isDue = state.flushedAt.map { !(0..<Self.longestDelay ~= now - $0) } ?? true
      if isDue { state.flushedAt = now }
      return isDue
    }
  }

  /// Returns the measurement that is valid on a network at a time, if there is one.
  func value(_ network: NetworkState, at now: Double) -> BandwidthMeasurement? {
    let latest = state.withLock { state in
      if !state.isRead {
        state.latest = read()
        (state.written, state.isRead) = (state.latest, true)
      }
      return state.latest
    }
    return latest.flatMap { $0.holds(on: network.pathIdentity, at: now) ? $0 : nil }
  }

  /// Writes the measurement if the file does not hold it yet.
  func flush() {
    writing.withLock { _ in
      let new = state.withLock { $0.latest == $0.written ? nil : $0.latest }
      guard let new else { return }
      write(new)
      state.withLock { $0.written = new }
    }
  }

  private func read() -> BandwidthMeasurement? {
    guard let bytes = try? AtomicFile(filePath).content(),
      case .object(let object)? = try? JSONReader.value(in: bytes),
      let bits = object["bitsPerSecond"]?.integer, bits > 0,
      let network = object["network"]?.text, let time = object["time"]?.double
    else { return nil }
    return BandwidthMeasurement(bitsPerSecond: bits, network: network, time: time)
  }

  /// Replaces the file, unless another process does so now; the next run then has its measurement.
  private func write(_ latest: BandwidthMeasurement) {
    let value: JSONValue = [
      "bitsPerSecond": .integer(latest.bitsPerSecond), "network": .string(latest.network),
      "time": .number(String(latest.time)),
    ]
    let text = value.text(.compact) + "\n"
    try? AtomicFile(filePath).locked(within: .zero) { file throws(FileError) in
      try file.replace(with: Array(text.utf8), isDurable: false)
    }
  }
}

/// The bandwidth used by a decision, and its source.
struct BandwidthReading: Sendable, Hashable {
  var bitsPerSecond: Int
  /// The source in words, such as `measured 5 min ago`.
  var source: String

  /// Takes the bandwidth measured by this process, or else by an earlier run; nil if neither is valid.
  ///
  /// If an override replaces the network, the measurement of this process counts for it.
  init?(
    live: BandwidthMeasurement?,
    _ memory: BandwidthMemory?,
    _ network: NetworkState?,
    at now: Double
  ) {
    if let live, live.holds(on: network?.pathIdentity ?? live.network, at: now) {
      (bitsPerSecond, source) = (live.bitsPerSecond, "measured by the transfers so far")
      return
    }
    guard let network, let kept = memory?.value(network, at: now) else { return nil }
    let minutes = Int((now - kept.time) / 60)
    bitsPerSecond = kept.bitsPerSecond
    source = minutes == 0 ? "measured less than a minute ago" : "measured \(minutes) min ago"
  }
}
