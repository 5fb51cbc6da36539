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
        "no folder for the socket: $XDG_RUNTIME_DIR is not set; use --socket PATH or --port NUMBER",
        isUsage: true
      )
    }
    return "\(folder)/feedimg.sock"
  }
}
