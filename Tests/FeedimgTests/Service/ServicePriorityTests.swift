import FeedimgModel
import FoundationEssentials
import LoopbackServer
import Testing

@testable import Feedimg
@testable import FeedimgPipeline

/// The priority that the service receives.
@Suite(.timeLimit(.minutes(10))) struct ServicePriorityTests {
  private let test: TestLoader
  private let service = HeldDownloader(holding: { $0.url.text.contains("/v1/image") })
  private let link: ServiceClient
  private let variant: ImageVariant
  private let run = InFlightLoad(.prefetch)
  private let handle = LoadHandle(.prefetch)

  init() throws {
    test = try TestLoader()
    let socket = test.folder + "/service.sock"
    try Data().write(to: URL(filePath: socket))
    link = ServiceClient(socket: socket, cacheFolder: test.folder, downloader: service)
    variant = ImageVariant(role: .original, url: try ImageURL("http://x.example/a"))
    _ = run.add(ObjectIdentifier(handle), handle, nil, nil)
  }

  private var told: [String] { service.requests.all.compactMap { $0.fields["Priority"] } }

  /// The requests and their priority.
  private var asked: [String] {
    service.requests.all.map { "\($0.method.name) \($0.url.text.prefix { $0 != "?" })" }
  }

  /// Starts the load of a prefetch that becomes visible after its request.
  private func urgentLoad() async -> Task<FetchedImage?, any Error> {
    let load = Task {
      try await link.load(
        variant,
        UserSettings(),
        from: test.loader.resources.storage.store,
        on: test.loader.resources.storage.reads,
        load: run
      )
    }
    while told.isEmpty { await Task.yield() }
    set(.visible)
    while told.count < 2 { await Task.yield() }
    return load
  }

  private func set(_ priority: LoadPriority) {
    handle.priority = priority
    run.updatePriority()
  }

  @Test func `a prefetch that becomes visible is urgent for the service too`() async throws {
    let load = await urgentLoad()
    set(.visible)
    service.release()
    #expect(try await load.value?.bytes == SampleImage.jpeg)
    #expect(told == ["u=6", "u=1"])
    // The image was requested once. The other requests concern the same load.
    let local = "http://localhost"
    #expect(asked == ["GET \(local)/healthz", "GET \(local)/v1/image", "POST \(local)/v1/priority"])
    let names = Set(service.requests.all.compactMap { $0.fields["Feedimg-Load"] })
    #expect(names.count == 1)
    while service.running > 0 { await Task.yield() }
  }

  @Test func `a load that is hidden again is no longer urgent`() async throws {
    let load = await urgentLoad()
    set(.near)
    while told.count < 3 { await Task.yield() }
    set(.prefetch)
    while told.count < 4 { await Task.yield() }
    #expect(told == ["u=6", "u=1", "u=4", "u=6"])
    service.release()
    #expect(try await load.value?.bytes == SampleImage.jpeg)
  }

  @Test func `no request follows when the load is cancelled`() async throws {
    let load = await urgentLoad()
    load.cancel()
    let error = await #expect(throws: LoadError.self) { try await load.value }
    #expect(error?.code == .cancelled)
    while service.running > 0 { await Task.yield() }
    #expect(told.count == 2)
  }
}
