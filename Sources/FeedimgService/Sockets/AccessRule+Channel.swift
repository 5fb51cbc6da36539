import Glibc
import NIOCore

extension AccessRule {
  /// The kernel's `struct ucred` (unix(7)).
  private struct Credentials {
    var process: Int32 = 0
    var user: UInt32 = .max
    var group: UInt32 = .max
  }

  /// Who may ask over a connection that has just been made.
  ///
  /// - Parameters:
  ///   - channel: The connection.
  ///   - place: Where it was made.
  ///   - token: What must be brought over TCP; nil for nothing.
  /// - Returns: On the event loop of the channel; fails where the kernel does not tell who is there.
  static func rule(
    of channel: any Channel,
    at place: ListeningSocket.Place,
    token: AccessToken?
  ) -> EventLoopFuture<AccessRule> {
    if case .port(let port, _) = place {
      return channel.eventLoop.makeSucceededFuture(.loopback(port: port, token: token))
    }
    guard let provider = channel as? any SocketOptionProvider else {
      return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
    }
    let answer: EventLoopFuture<Credentials> = provider.unsafeGetSocketOption(
      level: .socket,
      name: NIOBSDSocket.Option(rawValue: SO_PEERCRED)
    )
    return answer.map { $0.user == geteuid() ? .sameUser : .stranger(user: $0.user) }
  }
}

extension ListeningSocket.Place {
  /// Whether it is on the internet protocol, where the kernel does not tell who connects.
  var isPort: Bool { if case .port = self { true } else { false } }
}
