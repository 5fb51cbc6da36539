extension UInt64 {
  /// Sixteen hexadecimal digits, in lower case.
  var hexadecimal: String {
    String(unsafeUninitializedCapacity: 16) { buffer in
      for index in 0..<16 {
        let digit = UInt8(truncatingIfNeeded: self >> UInt64(60 - 4 * index)) & 15
        buffer[index] = digit < 10 ? 48 + digit : 87 + digit
      }
      return 16
    }
  }

  /// Reads sixteen hexadecimal digits in lower case; nil for anything else.
  init?(hexadecimal digits: some Collection<UInt8>) {
    guard digits.count == 16 else { return nil }
    var value: UInt64 = 0
    for digit in digits {
      switch digit {
      case 48...57: value = value << 4 | UInt64(digit - 48)
      case 97...102: value = value << 4 | UInt64(digit - 87)
      default: return nil
      }
    }
    self = value
  }
}
