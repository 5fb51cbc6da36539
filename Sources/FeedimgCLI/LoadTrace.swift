import Feedimg
import Synchronization

/// Takes down the steps of one load, and draws them in the order of time.
final class LoadTrace: LoadObserving {
  /// Steps may come from several threads.
  private let events = Mutex<[LoadEvent]>([])

  func observe(_ event: LoadEvent) { events.withLock { $0.append(event) } }

  var timeline: LoadTimeline { LoadTimeline(events.withLock { $0 }) }

  /// A line for each step: when, what, how long until the next one, and what is to be said of it.
  static func lines(_ timeline: LoadTimeline) -> [String] {
    let whole = max(timeline.duration / .microseconds(1), 1)
    return timeline.entries.map { entry in
      let begin = entry.begin / .microseconds(1)
      let start = Int(begin / whole * Double(barWidth))
      let length = Int(((entry.end - entry.begin) / .microseconds(1) / whole * Double(barWidth)).rounded())
      let column = min(start, barWidth - 1)
      let bar =
        String(repeating: " ", count: column) + String(repeating: "█", count: min(length, barWidth - column))
      // A step that took no time to speak of still has its place.
      let drawn = length == 0 ? String(repeating: " ", count: column) + "▏" : bar
      let time = pad(milliseconds(begin), 10, leading: true)
      let text = "\(time) ms  \(pad(entry.name, 11))  \(Output.dim(pad(drawn, barWidth)))  \(entry.detail)"
      return String(text.reversed().drop { $0 == " " }.reversed())
    }
  }

  private static let barWidth = 24

  /// With one digit behind the point.
  private static func milliseconds(_ microseconds: Double) -> String {
    let tenths = Int((microseconds / 100).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }

  private static func pad(_ text: String, _ width: Int, leading: Bool = false) -> String {
    let space = String(repeating: " ", count: max(0, width - text.count))
    return leading ? space + text : text + space
  }
}
