import Glibc
import NIOCore

extension AccessRule {
  /// The kernel's `struct ucred` (unix(7)).
  private struct Credentials {
    var process: Int32 = 0
    var user: UInt32 = .max
    var group: UInt32 = .max
  }

  /// The access rule of a new connection; fails where the kernel does not name the user.
  static func rule(of channel: any Channel, token: AccessToken?) -> EventLoopFuture<AccessRule> {
    if let port = channel.localAddress?.port {
      return channel.eventLoop.makeSucceededFuture(.loopback(port: port, token: token))
    }
    guard let provider = channel as? any SocketOptionProvider else {
      return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
    }
    let credentials: EventLoopFuture<Credentials> = provider.unsafeGetSocketOption(
      level: .socket,
      name: NIOBSDSocket.Option(rawValue: SO_PEERCRED)
    )
    return credentials.map { $0.user == geteuid() ? .sameUser : .otherUser($0.user) }
  }
}
