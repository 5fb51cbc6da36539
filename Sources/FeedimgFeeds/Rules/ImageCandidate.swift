/// One candidate of a `srcset` attribute.
struct ImageCandidate: Equatable {
  var url: String
  /// The place of the URL in the attribute, as byte offsets.
  var place = 0..<0
  /// The descriptor `w`, in pixels; nil if the candidate has another one.
  var width: Int?
  /// The descriptor `x`; 1 without one.
  var density = 1.0

  /// Parses a `srcset` attribute (HTML §4.8.4.3.10).
  ///
  /// - Returns: The first ``FeedLimits/candidates`` valid candidates in order; of candidates with the same
  ///   descriptor, the first.
  static func candidates(in attribute: String) -> [ImageCandidate] {
    var candidates: [ImageCandidate] = []
    var (widths, densities) = (Set<Int>(), Set<Double>())
    var rest = attribute.utf8[...]
    while true {
      rest = rest.drop { isSpace($0) || $0 == comma }
      guard !rest.isEmpty, candidates.count < FeedLimits.candidates else { return candidates }
      let url = rest.prefix { !isSpace($0) }
      rest = rest[url.endIndex...]
      let end = url.lastIndex { $0 != comma }.map { url.index(after: $0) } ?? url.startIndex
      // A comma at the end of the URL ends the candidate.
      let descriptors = end == url.endIndex ? takeDescriptors(from: &rest) : []
      guard var candidate = ImageCandidate(descriptors) else { continue }
      candidate.url = String(Substring(url[..<end]))
      let start = attribute.utf8.distance(from: attribute.utf8.startIndex, to: url.startIndex)
      candidate.place = start..<start + candidate.url.utf8.count
      let isNew =
        candidate.width.map { widths.insert($0).inserted } ?? densities.insert(candidate.density).inserted
      if isNew { candidates.append(candidate) }
    }
  }

  /// - Returns: Nil for descriptors that are invalid or contradict one another.
  private init?(_ descriptors: [String]) {
    var (width, height, density) = (nil as Int?, nil as Int?, nil as Double?)
    for descriptor in descriptors {
      let number = String(descriptor.dropLast())
      switch descriptor.last {
      case "w":
        guard width == nil, density == nil, let value = Self.integer(number), value > 0 else { return nil }
        width = value
      case "x":
        guard width == nil, height == nil, density == nil, let value = Self.double(number), value >= 0 else {
          return nil
        }
        density = value
      case "h":
        guard height == nil, density == nil, let value = Self.integer(number), value > 0 else { return nil }
        height = value
      default: return nil
      }
    }
    guard height == nil || width != nil else { return nil }
    url = ""
    self.width = width
    self.density = density ?? 1
  }

  /// The descriptors up to the comma that ends the candidate; a comma in parentheses does not.
  private static func takeDescriptors(from rest: inout Substring.UTF8View) -> [String] {
    var descriptors: [String] = []
    var current: [UInt8] = []
    var isInParentheses = false
    func flush() {
      if !current.isEmpty { descriptors.append(String(decoding: current, as: UTF8.self)) }
      current = []
    }
    while let byte = rest.popFirst() {
      if isInParentheses {
        current.append(byte)
        isInParentheses = byte != UInt8(ascii: ")")
      } else if isSpace(byte) {
        flush()
      } else if byte == comma {
        break
      } else {
        current.append(byte)
        isInParentheses = byte == UInt8(ascii: "(")
      }
    }
    flush()
    return descriptors
  }

  private static let comma = UInt8(ascii: ",")

  private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0C, 0x0D].contains(byte) }

  /// A valid non-negative integer (HTML §2.3.4.2).
  private static func integer(_ text: String) -> Int? {
    text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(text) : nil
  }

  /// A valid floating-point number (HTML §2.3.4.3), unlike `Double`'s, without `+`, `inf` and a final point.
  private static func double(_ text: String) -> Double? {
    guard text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }), text.first != "+" else { return nil }
    let mantissa = text.prefix { $0 != "e" && $0 != "E" }
    return mantissa.last?.isNumber == true ? Double(text) : nil
  }
}
