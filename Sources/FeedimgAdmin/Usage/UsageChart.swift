import FeedimgModel

/// A report as a bar chart, with one bar per day or, for many days, per month.
struct UsageChart {
  /// A bar; its parts are stacked from the bottom.
  private struct Bar {
    var label: String
    var parts: [NetworkKind: Int] = [:]
    var height: Int { parts.values.reduce(0) { $0.addingClamped($1) } }
  }

  /// The most daily bars; more would be too thin.
  private static let maximumBarCount = 92
  private static let size = (width: 760.0, height: 400.0)
  private static let plot = (left: 72.0, right: 744.0, top: 72.0, bottom: 320.0)
  private static let networks: [NetworkKind] = [.cellular, .other, .wifi, .ethernet]

  private let report: UsageReport
  /// The data of the bars; for monthly bars, that of whole months.
  private let usage: [NetworkUsage]
  private let firstDay: CalendarDay
  private let total: UsageReport.Sum
  private let bars: [Bar]
  private let isByMonth: Bool

  init(_ report: UsageReport) {
    self.report = report
    let last = report.days.upperBound
    let count = last.daysSince1970 - report.days.lowerBound.daysSince1970 + 1
    isByMonth = count > Self.maximumBarCount
    usage = isByMonth ? report.months : report.usage
    let lowest = report.days.lowerBound
    firstDay = isByMonth ? lowest.advanced(by: 1 - lowest.day) : lowest
    total = UsageReport.Sum(usage)
    // The chart shows at most ten years.
    let first = max(report.days.lowerBound, last.advanced(by: -3652))
    var labels: [String] = []
    for number in first.daysSince1970...last.daysSince1970 {
      let day = CalendarDay(daysSince1970: number)
      let label = isByMonth ? day.monthText : day.description
      if labels.last != label { labels.append(label) }
    }
    var bars = labels.map { Bar(label: $0) }
    for usage in usage {
      let label = isByMonth ? usage.day.monthText : usage.day.description
      guard let index = labels.firstIndex(of: label) else { continue }
      let sum = bars[index].parts[usage.network, default: 0]
      bars[index].parts[usage.network] = sum.addingClamped(usage.received.bytes)
    }
    self.bars = bars
  }

  /// The chart as a complete SVG file, with light and dark colours.
  var svg: String {
    """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.size.width.text) \
    \(Self.size.height.text)" role="img" aria-labelledby="title summary">
    <title id="title">Received \(firstDay) to \(report.days.upperBound)</title>
    <desc id="summary">\(summary)</desc>
    <style>
    \(Self.style)
    </style>
    <rect class="ground" width="100%" height="100%" rx="8"/>
    <text class="heading" x="24" y="36">\(total.received.rounded)</text>
    <text class="faint" x="24" y="54">\(summary)</text>
    \((scale + columns + [legend]).joined(separator: "\n"))
    </svg>

    """
  }

  /// The style sheet; without variables, which many viewers do not support.
  private static let style = """
    text { font: 12px system-ui, "Cantarell", "DejaVu Sans", sans-serif; fill: #1c1e21; }
    .heading { font-size: 20px; font-weight: 600; }
    .end { text-anchor: end; }
    .middle { text-anchor: middle; }
    .ground { fill: #ffffff; }
    .line { stroke: #e3e5e8; stroke-width: 1; }
    .faint { fill: #6a6f76; }
    .cellular { fill: #d1495b; }
    .other { fill: #8d6bb8; }
    .wifi { fill: #2f7fb8; }
    .ethernet { fill: #3a9a76; }
    @media (prefers-color-scheme: dark) {
      text { fill: #eceef0; }
      .ground { fill: #16181b; }
      .line { stroke: #2d3136; }
      .faint { fill: #9aa0a8; }
      .cellular { fill: #f0808d; }
      .other { fill: #b79be0; }
      .wifi { fill: #6bb3e6; }
      .ethernet { fill: #6ecba6; }
    }
    """

  private var summary: String {
    let transfers = total.transfers
    return "received from \(firstDay) to \(report.days.upperBound), "
      + "\(transfers) transfer\(transfers == 1 ? "" : "s")"
  }

  // MARK: Parts

  private var maximum: Int { max(1, bars.map(\.height).max() ?? 0) }

  /// The distance of the scale lines: 1, 2 or 5 times a power of ten, for at most six lines.
  private var step: Int {
    var power = 1
    while true {
      for factor in [1, 2, 5] where maximum / (factor * power) <= 5 { return factor * power }
      guard power < Int.max / 100 else { return maximum }
      power *= 10
    }
  }

  private var top: Int {
    let lines = (maximum - 1) / step + 1
    return lines > Int.max / step ? maximum : lines * step
  }

  private var scale: [String] {
    stride(from: 0, through: top, by: step).map { value in
      let y = Self.plot.bottom - height(value)
      return #"<line class="line" x1="\#(Self.plot.left.text)" x2="\#(Self.plot.right.text)" "#
        + #"y1="\#(y.text)" y2="\#(y.text)"/>"#
        + label(ByteCount(value).rounded, "faint end", x: Self.plot.left - 10, y: y + 4)
    }
  }

  private var columns: [String] {
    let slot = (Self.plot.right - Self.plot.left) / Double(bars.count)
    let width = min(slot * 0.72, 32)
    let labelStep = max(1, Int((Double(bars.count) * 56 / (Self.plot.right - Self.plot.left)).rounded(.up)))
    return bars.enumerated().flatMap { index, bar in
      let middle = Self.plot.left + (Double(index) + 0.5) * slot
      var parts: [String] = []
      // The last bar is today's, which always has a label.
      if (bars.count - 1 - index) % labelStep == 0 {
        let text = isByMonth ? bar.label : String(bar.label.dropFirst(5))
        parts.append(label(text, "faint middle", x: middle, y: Self.plot.bottom + 20))
      }
      var y = Self.plot.bottom
      for network in Self.networks {
        guard let bytes = bar.parts[network], bytes > 0 else { continue }
        // Even the smallest value is visible.
        let height = max(height(bytes), 1)
        y -= height
        parts.append(
          #"<rect class="\#(network.rawValue)" x="\#((middle - width / 2).text)" y="\#(y.text)" "#
            + #"width="\#(width.text)" height="\#(height.text)"><title>"#
            + "\(bar.label) \(network.rawValue): \(ByteCount(bytes).rounded)</title></rect>"
        )
      }
      return parts
    }
  }

  private var legend: String {
    var x = Self.plot.left
    var parts: [String] = []
    for network in Self.networks {
      let sum = UsageReport.Sum(usage.lazy.filter { $0.network == network })
      guard sum.received.bytes > 0 else { continue }
      let text = "\(network.rawValue)  \(sum.received.rounded)"
      parts.append(
        #"<rect class="\#(network.rawValue)" x="\#(x.text)" y="364" width="12" height="12" rx="2"/>"#
          + #"<text x="\#((x + 18).text)" y="374">\#(text)</text>"#
      )
      x += 44 + Double(text.count) * 7
    }
    if parts.isEmpty { return label("nothing was received", "faint", x: x, y: 374) }
    return parts.joined(separator: "\n")
  }

  private func label(_ text: String, _ style: String, x: Double, y: Double) -> String {
    #"<text class="\#(style)" x="\#(x.text)" y="\#(y.text)">\#(text)</text>"#
  }

  private func height(_ bytes: Int) -> Double {
    Double(bytes) / Double(top) * (Self.plot.bottom - Self.plot.top)
  }
}

extension Double {
  /// The number with at most one decimal.
  fileprivate var text: String {
    let rounded = (self * 10).rounded() / 10
    return rounded == rounded.rounded() ? String(Int(rounded)) : String(rounded)
  }
}

extension UsageReport {
  /// A bar chart of the days or, if there are many, of the months, as a complete SVG file.
  public var svg: String { UsageChart(self).svg }
}
