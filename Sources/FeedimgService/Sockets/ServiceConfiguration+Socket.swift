import Feedimg

extension ServiceConfiguration {
  /// The path of the Unix socket.
  ///
  /// - Throws: ``ServiceError`` where its folder is unknown.
  func socketPath() throws(ServiceError) -> String {
    if let socket {
      guard !socket.isEmpty else { throw ServiceError("--socket takes a path, found none", isUsage: true) }
      return socket
    }
    guard let folder = loader.environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") else {
      throw ServiceError(
        "$XDG_RUNTIME_DIR names no folder for the socket; --socket can name a path, or --port a port",
        isUsage: true
      )
    }
    return "\(folder)/feedimg.sock"
  }
}
