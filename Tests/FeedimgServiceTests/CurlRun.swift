import FeedimgJSON
import Glibc

/// One run of curl, which prints the heads and the body of its response.
final class CurlRun: Sendable {
  private let process: pid_t
  private let output: Int32

  init(_ arguments: [String]) throws {
    var ends: [Int32] = [-1, -1]
    // A socket, because one call here makes it close on exec.
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw RunFailure("no pipe") }
    defer { close(ends[1]) }
    output = ends[0]
    process = try ServiceRun.spawn(
      ["/usr/bin/curl", "-q", "--silent", "--include", "--no-buffer", "--max-time", "300"] + arguments,
      ["PATH": "/usr/bin:/bin"],
      output: ends[1]
    )
  }

  deinit {
    kill(process, SIGKILL)
    while waitpid(process, nil, 0) < 0, errno == EINTR {}
    close(output)
  }

  /// Closes the connection at once.
  func hangUp() { kill(process, SIGKILL) }

  /// Reads to the next empty line, which ends a head or an event.
  ///
  /// Nil at the end.
  func block() -> String? {
    var text = ""
    while let line = line() {
      if line.isEmpty { return text }
      text += line + "\n"
    }
    return nil
  }

  /// The next bytes of the body.
  ///
  /// Fewer at the end.
  func take(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: min(count, 1 << 16))
    while bytes.count < count {
      let more = read(output, &chunk, min(chunk.count, count - bytes.count))
      if more < 0, errno == EINTR { continue }
      guard more > 0 else { break }
      bytes += chunk.prefix(more)
    }
    return bytes
  }

  /// All remaining bytes.
  func rest() -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(output, &chunk, chunk.count)
      if count > 0 { bytes += chunk.prefix(count) } else if count == 0 || errno != EINTR { return bytes }
    }
  }

  private func line() -> String? {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while read(output, &byte, 1) == 1 {
      guard byte == UInt8(ascii: "\n") else {
        bytes.append(byte)
        continue
      }
      if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
      return String(decoding: bytes, as: UTF8.self)
    }
    return nil
  }
}

/// A response of the service.
struct CurlResponse {
  let status: Int
  private let fields: [(name: String, value: String)]
  let body: [UInt8]

  init(of run: CurlRun) throws {
    guard var head = run.block() else { throw RunFailure("no response") }
    // An interim response comes first.
    if head.hasPrefix("HTTP/1.1 100") { head = run.block() ?? "" }
    let lines = head.split(separator: "\n")
    status = lines.first.flatMap { Int($0.split(separator: " ").dropFirst().first ?? "") } ?? 0
    fields = lines.dropFirst().map { line in
      let sides = line.split(separator: ":", maxSplits: 1)
      return (sides[0].lowercased(), String(sides.count > 1 ? sides[1].drop { $0 == " " } : ""))
    }
    body = run.rest()
  }

  subscript(name: String) -> String? { fields.first { $0.name == name.lowercased() }?.value }

  /// The values of all lines of a field.
  func values(of name: String) -> [String] { fields.filter { $0.name == name.lowercased() }.map(\.value) }

  var text: String { String(decoding: body, as: UTF8.self) }

  /// The body as a JSON object.
  ///
  /// Empty if it is not one.
  var object: JSONObject {
    if case .object(let object)? = try? JSONReader.value(in: body) { object } else { JSONObject() }
  }
}
