/// Why netlink gave no answer that can be used.
package struct NetlinkError: Error, Equatable {
  package enum Code: Equatable {
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

  package var code: Code
  /// The system's error number, or 0.
  package var number: Int32 = 0
}
