import FoundationEssentials
import LoopbackServer
import Testing

/// A service with a gateway, which is asked by curl over TCP.
struct GatewayRun {
  let service: ServiceRun
  /// The address of the gateway.
  let base: String

  init(_ gateway: String, network: String = "wifi", besides other: GatewayRun? = nil) throws {
    let arguments = ["--network=\(network)", "--port=0", "--gateway=\(gateway)"]
    service = try ServiceRun(arguments, besides: other?.service)
    base = "http://127.0.0.1:\(try #require(service.port))"
  }

  init(_ service: ServiceRun, port: UInt16) { (self.service, base) = (service, "http://127.0.0.1:\(port)") }

  func ask(_ target: String, _ arguments: String...) throws -> CurlResponse {
    try CurlResponse(of: run(target, arguments))
  }

  func run(_ target: String, _ arguments: [String] = []) throws -> CurlRun {
    try CurlRun([target.hasPrefix("http") ? target : base + target, "--path-as-is"] + arguments)
  }

  /// The address of a feed, with the token that the service has written.
  func feed(_ url: String) throws -> String { "/g/\(try token())/feed/\(url)" }

  func token() throws -> String {
    let file = try Data(contentsOf: URL(filePath: "\(service.root)/config/feedimg/gateway-token"))
    return String(String(decoding: file, as: UTF8.self).prefix { $0 != "\n" })
  }
}
