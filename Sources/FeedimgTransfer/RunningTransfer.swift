import CCurl
import FeedimgModel
import Glibc

/// A transfer under way: what libcurl calls back, on the transfer thread.
final class RunningTransfer {
  /// What changes with each line that comes.
  private struct State {
    var transfer: Transfer
    var patience: Patience
  }

  let order: CurlThread.Order
  let handle: CurlHandle
  /// At a place of its own: Swift would look each time whether others are at a variable of a class, which takes longer
  /// than to take note of a line.
  private let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
  private let time: StepTime
  /// Bytes from the present URL that the receiver has been told of.
  private var told = 0
  private let reach: Reach
  /// An address that was not connected to, of the present URL.
  private var refused: HostAddress?

  init(_ order: CurlThread.Order, handle: CurlHandle, reach: Reach, time: StepTime) {
    self.time = time
    self.reach = reach
    self.order = order
    self.handle = handle
    state.initialize(
      to: State(transfer: Transfer(order.request), patience: Patience(order.request, from: time.now))
    )
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
  }

  var patience: Patience { state.pointee.patience }

  /// Sets the handle up for the present URL, the first or one redirected to.
  ///
  /// - Parameter connectionAge: No older connection is used; nil for no limit.
  /// - Throws: ``LoadError`` when libcurl refuses.
  func prepare(connectionAge: Duration?) throws(LoadError) {
    state.pointee.patience.connectionBegan()
    told = 0
    refused = nil
    try handle.prepare(
      state.pointee.transfer,
      connectionAge: connectionAge,
      context: Unmanaged.passUnretained(self).toOpaque()
    )
  }

  func end(_ code: CURLcode) -> Transfer.EndStep {
    tellMoved()
    if code == CURLE_COULDNT_CONNECT, let refused { state.pointee.transfer.stop(refusal(of: refused)) }
    let step = state.pointee.transfer.end(handle.outcome(code, connectTimeout: order.request.connectTimeout))
    if case .follow = step { order.receiver.note(.redirected(state.pointee.transfer.redirects.url)) }
    return step
  }

  func stop(_ error: LoadError) -> Transfer.EndStep {
    state.pointee.transfer.stop(error)
    return end(CURLE_ABORTED_BY_CALLBACK)
  }

  func stop(_ limit: Patience.Limit) -> Transfer.EndStep {
    state.pointee.transfer.stop(limit)
    return end(CURLE_ABORTED_BY_CALLBACK)
  }

  // MARK: Called by libcurl; an answer other than the count of bytes stops the transfer

  static let headerCallback: curl_write_callback = { bytes, size, count, context in
    guard let running = RunningTransfer.from(context) else { return 0 }
    return running.takeHeader(UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
  }

  static let bodyCallback: curl_write_callback = { bytes, size, count, context in
    guard let running = RunningTransfer.from(context) else { return 0 }
    return running.takeBody(UnsafeRawBufferPointer(start: bytes, count: size * count)) ? size * count : 0
  }

  static let requestCallback: curl_prereq_callback = { context, peer, _, _, _ in
    guard let running = RunningTransfer.from(context),
      running.maySendRequest(to: peer.map { String(cString: $0) })
    else { return CURL_PREREQFUNC_ABORT }
    return CURL_PREREQFUNC_OK
  }

  static let socketCallback: curl_opensocket_callback = { context, _, address in
    guard let running = RunningTransfer.from(context), let address,
      let place = MemoryLayout<curl_sockaddr>.offset(of: \.addr),
      running.mayConnect(to: HostAddress(UnsafeRawPointer(address) + place))
    else { return CURL_SOCKET_BAD }
    let (family, kind, proto) = (address.pointee.family, address.pointee.socktype, address.pointee.protocol)
    return socket(family, kind | Int32(SOCK_CLOEXEC.rawValue), proto)
  }

  private static func from(_ context: UnsafeMutableRawPointer?) -> RunningTransfer? {
    context.map { Unmanaged<RunningTransfer>.fromOpaque($0).takeUnretainedValue() }
  }

  private func mayConnect(to address: HostAddress?) -> Bool {
    guard let address else { return false }
    if reach.allows(address) { return true }
    refused = address
    return false
  }

  /// A connection that was made for another transfer is looked at again.
  private func maySendRequest(to peer: String?) -> Bool {
    if !reach.isUnlimited, order.request.socket == nil {
      let address = peer.flatMap { HostAddress($0) }
      guard let address, reach.allows(address) else {
        state.pointee.transfer.stop(refusal(of: address))
        return false
      }
    }
    sentRequest(to: peer)
    return true
  }

  private func refusal(of address: HostAddress?) -> LoadError {
    let url = state.pointee.transfer.redirects.url
    // Libcurl tells the address alone, and not whose it is.
    if let address, let proxy = ProxySetting.current(for: url), proxy.mayBe(address) {
      return proxy.refusal(for: url)
    }
    return Reach.error(host: url.host, address)
  }

  private func sentRequest(to peer: String?) {
    if let peer, order.request.socket == nil { order.peer.note(peer) }
    state.pointee.transfer.sentRequest()
    state.pointee.patience.requestSent(at: time.now)
    order.receiver.note(.requested)
  }

  /// Tells of what has come, as libcurl counts it.
  private func tellMoved() {
    let moved = handle.receivedLength
    guard moved > told else { return }
    order.receiver.note(.moved(moved - told))
    told = moved
  }

  private func takeHeader(_ line: UnsafeRawBufferPointer) -> Bool {
    state.pointee.patience.bytesArrived(at: time.now)
    do throws(LoadError) {
      if let head = try state.pointee.transfer.takeHeaderLine(line) { try order.receiver.begin(head) }
      return true
    } catch {
      state.pointee.transfer.stop(error)
      return false
    }
  }

  private func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    state.pointee.patience.bytesArrived(at: time.now)
    tellMoved()
    do throws(LoadError) {
      switch try state.pointee.transfer.takeBody(bytes.count) {
      case .deliver: try order.receiver.receive(bytes)
      case .skip: break
      case .abandon: return false
      }
      return true
    } catch {
      state.pointee.transfer.stop(error)
      return false
    }
  }
}
