import Feedimg
import Synchronization

/// Records the steps of one load, and draws them in chronological order.
final class LoadTrace: LoadObserving {
  /// The steps so far; several threads may add steps.
  private let events = Mutex<[LoadEvent]>([])

  func observe(_ event: LoadEvent) { events.withLock { $0.append(event) } }

  var timeline: LoadTimeline { LoadTimeline(events.withLock { $0 }) }

  /// One line for each step: its time, its name, a bar for the time until the next step, and details.
  static func lines(_ timeline: LoadTimeline) -> [String] {
    let whole = max(timeline.duration / .microseconds(1), 1)
    return timeline.entries.map { entry in
      let begin = entry.begin / .microseconds(1)
      let column = min(Int(begin / whole * Double(barWidth)), barWidth - 1)
      let length = Int(((entry.end - entry.begin) / .microseconds(1) / whole * Double(barWidth)).rounded())
      // A very short step is a thin line.
      let step = length == 0 ? "▏" : String(repeating: "█", count: min(length, barWidth - column))
      let bar = (String(repeating: " ", count: column) + step).padded(to: barWidth)
      let time = milliseconds(begin).padded(to: 10, leading: true)
      let text = "\(time) ms  \(entry.name.padded(to: 11))  \(Output.dim(bar))  \(entry.detail)"
      return String(text.reversed().drop { $0 == " " }.reversed())
    }
  }

  private static let barWidth = 24

  /// The time in milliseconds with one decimal.
  private static func milliseconds(_ microseconds: Double) -> String {
    let tenths = Int((microseconds / 100).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
