/// Why netlink gave no answer that can be used.
struct NetlinkError: Error, Equatable {
  enum Code: Equatable {
    /// The system lets this process have no such socket, or not ask this.
    case refused
    /// The kernel says no, with the error number in ``NetlinkError/number``.
    case negative
    /// What was listed changed meanwhile: ask again.
    case interrupted
    /// More came than the socket could hold, and some of it is lost.
    case overrun
    /// No answer, or one that is none.
    case malformed
  }

  var code: Code
  /// The system's error number, or 0.
  var number: Int32 = 0
}
