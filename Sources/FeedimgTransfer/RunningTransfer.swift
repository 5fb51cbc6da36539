import CCurl
import FeedimgModel

/// A transfer under way: what comes of it, on the transfer thread.
///
/// It lives at the place that its handle keeps, where libcurl finds it by itself: a line that comes costs neither a
/// count of references nor a look whether others are at it.
struct RunningTransfer: ~Copyable {
  let order: CurlThread.Order
  // Unsafe: the handle keeps the place that this lives at, and ends with it.
  private unowned(unsafe) let handle: CurlHandle
  private(set) var transfer: Transfer
  private(set) var patience: Patience
  private let receiver: any BodyReceiving
  private let step: LoopStep
  private let reach: Reach
  /// Bytes from the present URL that the receiver has been told of.
  private var told = 0
  /// Bytes of heads that it has not been told of.
  private var untold = 0
  /// An address that was not connected to, of the present URL.
  private var refused: HostAddress?
  /// Why there was no descriptor for a socket to the present URL, if there was none.
  private var shortage: DescriptorShortage?

  init(_ order: CurlThread.Order, handle: CurlHandle, reach: Reach, step: LoopStep) {
    self.order = order
    self.handle = handle
    self.reach = reach
    self.step = step
    receiver = order.receiver
    let request = order.request
    patience = Patience(request, from: step.time)
    transfer = Transfer(consume request)
  }

  /// Begins with the present URL, the first or one redirected to.
  mutating func begin() {
    patience.connectionBegan()
    (told, untold, refused, shortage) = (0, 0, nil, nil)
  }

  /// The head of the final answer, where libcurl says that all has come and nothing else is to be done.
  mutating func succeed(_ code: CURLcode) -> ResponseHead? {
    guard code == CURLE_OK, let head = transfer.takeSuccess() else { return nil }
    tellMoved(to: handle.receivedLength)
    return head
  }

  /// Takes what libcurl says at the end of the present URL.
  mutating func end(_ code: CURLcode) -> Transfer.EndStep {
    tellMoved(to: handle.receivedLength)
    if code == CURLE_COULDNT_CONNECT, let refused { transfer.stop(refusal(of: refused)) }
    var outcome = handle.outcome(code, connectTimeout: order.request.connectTimeout)
    outcome.shortage = code == CURLE_COULDNT_CONNECT ? shortage : .behind(code)
    let step = transfer.end(outcome)
    if case .follow = step { receiver.note(.redirected(transfer.url)) }
    return step
  }

  mutating func stop(_ error: LoadError) -> Transfer.EndStep {
    transfer.stop(error)
    return end(CURLE_ABORTED_BY_CALLBACK)
  }

  mutating func stop(_ limit: Patience.Limit) -> Transfer.EndStep {
    transfer.stop(limit)
    return end(CURLE_ABORTED_BY_CALLBACK)
  }

  /// Whether it matters where a connection leads.
  var looksAtAddresses: Bool { !reach.isUnlimited && order.request.socket == nil }

  mutating func mayConnect(to address: HostAddress?) -> Bool {
    guard let address else { return false }
    if reach.allows(address) { return true }
    refused = address
    return false
  }

  /// A connection that was made for another transfer is looked at again.
  mutating func maySendRequest(to peer: UnsafePointer<CChar>?) -> Bool {
    if looksAtAddresses {
      let address = peer.flatMap { HostAddress(String(cString: $0)) }
      guard let address, reach.allows(address) else {
        transfer.stop(refusal(of: address))
        return false
      }
    }
    if let peer, order.request.socket == nil { order.peer.note(String(cString: peer)) }
    transfer.sentRequest()
    patience.requestSent(at: step.time)
    receiver.note(.requested)
    return true
  }

  mutating func noteSocketError(_ error: Int32) { shortage = DescriptorShortage(error) ?? shortage }

  private func refusal(of address: HostAddress?) -> LoadError {
    let url = transfer.url
    // Libcurl tells the address alone, and not whose it is.
    if let address, let proxy = ProxySetting.current(for: url), proxy.mayBe(address) {
      return proxy.refusal(for: url)
    }
    return Reach.error(host: url.host, address)
  }

  mutating func takeHeader(_ line: UnsafeRawBufferPointer) -> Bool {
    patience.bytesArrived(at: step.time)
    untold += line.count
    do throws(LoadError) {
      if let head = try transfer.takeHeaderLine(line) { try receiver.begin(head) }
      return true
    } catch {
      transfer.stop(error)
      return false
    }
  }

  mutating func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    step.hasBody = true
    patience.bytesArrived(at: step.time)
    tellMoved(to: transfer.hasDecodedBody ? handle.receivedLength : told + untold + bytes.count)
    do throws(LoadError) {
      switch try transfer.takeBody(bytes.count) {
      case .deliver: try receiver.receive(bytes)
      case .skip: break
      case .abandon: return false
      }
      return true
    } catch {
      transfer.stop(error)
      return false
    }
  }

  private mutating func tellMoved(to count: Int) {
    guard count > told else { return }
    receiver.note(.moved(count - told))
    (told, untold) = (count, 0)
  }
}
