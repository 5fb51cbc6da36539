import NIOCore

/// Has plain requests answered before they are decoded, where the answer is at hand; all else goes on to the decoder.
///
/// Lives on the event loop of its connection, below the decoder.
final class PlainRequestHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let connection: ConnectionHandler
  /// Whether what the decoder was given ended as a head does.
  private var isEndOfHead = true

  /// - Parameter connection: Above the decoder.
  init(answering connection: ConnectionHandler) { self.connection = connection }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    // The decoder must have nothing begun: it told the end of a request last, and of another one behind that, an empty
    // line would have been the end as well.
    if isEndOfHead, connection.awaitsRequest,
      bytes.withUnsafeReadableBytes({ connection.answerPlainly($0) })
    {
      return
    }
    if isEndOfHead { connection.beginsWithMethod = Self.beginsWithMethod(bytes.readableBytesView) }
    isEndOfHead = bytes.readableBytesView.suffix(4).elementsEqual([0x0D, 0x0A, 0x0D, 0x0A])
    context.fireChannelRead(data)
  }

  private static func beginsWithMethod(_ bytes: ByteBufferView) -> Bool {
    let word = bytes.prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\r") }
    // Capitals and small letters differ in one bit.
    return !word.isEmpty && word.allSatisfy { (0x41...0x5A).contains($0 & 0xDF) || $0 == UInt8(ascii: "-") }
  }
}
