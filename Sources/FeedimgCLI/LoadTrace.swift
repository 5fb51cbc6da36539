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
      let start = Int(begin / whole * Double(barWidth))
      let length = Int(((entry.end - entry.begin) / .microseconds(1) / whole * Double(barWidth)).rounded())
      let column = min(start, barWidth - 1)
      let bar =
        String(repeating: " ", count: column) + String(repeating: "█", count: min(length, barWidth - column))
      // A very short step is a thin line.
      let drawn = length == 0 ? String(repeating: " ", count: column) + "▏" : bar
      let time = pad(milliseconds(begin), 10, leading: true)
      let text = "\(time) ms  \(pad(entry.name, 11))  \(Output.dim(pad(drawn, barWidth)))  \(entry.detail)"
      return String(text.reversed().drop { $0 == " " }.reversed())
    }
  }

  private static let barWidth = 24

  /// The time in milliseconds with one decimal.
  private static func milliseconds(_ microseconds: Double) -> String {
    let tenths = Int((microseconds / 100).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }

  private static func pad(_ text: String, _ width: Int, leading: Bool = false) -> String {
    let space = String(repeating: " ", count: max(0, width - text.count))
    return leading ? space + text : text + space
  }
}
