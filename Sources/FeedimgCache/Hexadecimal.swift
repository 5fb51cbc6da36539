extension UInt64 {
  /// Sixteen hexadecimal digits, in lower case.
  var hexadecimal: String {
    String(unsafeUninitializedCapacity: 16) { buffer in
      var count = 0
      writeHexadecimal { digit in
        buffer[count] = digit
        count += 1
      }
      return count
    }
  }

  /// Gives the first digits of sixteen, one after the other.
  func writeHexadecimal(digits: Int = 16, _ write: (UInt8) -> Void) {
    for index in 0..<digits {
      let digit = UInt8(truncatingIfNeeded: self >> UInt64(60 - 4 * index)) & 15
      write(digit < 10 ? 48 + digit : 87 + digit)
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
