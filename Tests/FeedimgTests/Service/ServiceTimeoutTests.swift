import FeedimgModel
import FeedimgTransfer
import Glibc
import LoopbackServer
import Synchronization
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

@Suite struct ServiceTimeoutTests {
  /// A Unix socket that accepts connections and never responds, like that of a stopped service.
  private final class SilentSocket: Sendable {
    let path: String
    private let descriptor: Int32

    init(in folder: String) throws {
      path = folder + "/silent.sock"
      descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
      let isBound = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
        }
      }
      try #require(isBound && listen(descriptor, 64) == 0)
    }

    deinit { close(descriptor) }
  }

  /// Counts requests.
  private final class Counting: Downloading {
    let asked = Mutex<[String]>([])
    private let downloader = CurlDownloader(userAgent: "feedimg-tests")

    func download(
      _ request: DownloadRequest,
      into receiver: any BodyReceiving
    ) async throws(LoadError) -> ResponseHead {
      asked.withLock { $0.append(request.url.text) }
      return try await downloader.download(request, into: receiver)
    }
  }

  @Test func `a service that hangs is asked once, for a short time, and then ignored`() async throws {
    let test = try TestLoader()
    let socket = try SilentSocket(in: test.folder)
    let downloader = Counting()
    let link = ServiceClient(
      socket: socket.path,
      cacheFolder: test.folder,
      downloader: downloader,
      probeTimeout: .milliseconds(50)
    )
    let variants = try (0..<8).map {
      ImageVariant(role: .original, url: try ImageURL("http://x.example/\($0)"))
    }
    await withTaskGroup(of: Void.self) { group in
      for variant in variants {
        group.addTask {
          let image = try? await link.load(
            variant,
            UserSettings(),
            from: test.loader.resources.storage.store,
            on: test.loader.resources.storage.reads,
            load: InFlightLoad(.near)
          )
          #expect(image == nil)
        }
      }
    }
    #expect(downloader.asked.withLock { $0 } == ["http://localhost/healthz"])
    // The limit is 50 ms. If this thread does not run for so long, there is not even a connection.
    let summary = "not loaded by the service at `\(socket.path)`: it does not respond: "
    #expect(link.summary?.hasPrefix(summary) == true && link.summary?.hasSuffix(" within 50 ms") == true)
  }
}
