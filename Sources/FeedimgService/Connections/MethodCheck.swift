import NIOCore

/// Records whether the latest input begins like a method.
///
/// The decoder reports the same error for an unknown method (501) and for bytes that are not HTTP (400). Runs on the event
/// loop of its connection, below the decoder.
final class MethodCheck: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let connection: ConnectionHandler

  /// - Parameter connection: The handler above the decoder.
  init(for connection: ConnectionHandler) { self.connection = connection }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let word = unwrapInboundIn(data).readableBytesView.prefix {
      $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\r")
    }
    // Upper and lower case differ in one bit.
    connection.inputBeginsWithMethod =
      !word.isEmpty && word.allSatisfy { (0x41...0x5A).contains($0 & 0xDF) || $0 == UInt8(ascii: "-") }
    context.fireChannelRead(data)
  }
}
