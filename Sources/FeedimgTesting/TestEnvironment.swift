public import Feedimg
import FeedimgHTTPCache
import FeedimgModel
import FeedimgPipeline
import FeedimgSettings
import FeedimgSystem
import FeedimgTransfer
import Glibc

/// A loader for tests, with a scripted network, server and clock, and with a folder of its own.
///
/// ```swift
/// let test = try TestEnvironment(.cellular)
/// test.server["https://x.example/a.jpg"] = .image(bytes)
/// let image = try await test.loader.load(item)
/// test.network.become(.wifi)
/// ```
///
/// The folder is removed when the environment is released. Failed requests are not repeated.
public final class TestEnvironment: Sendable {
  /// The network of the loader.
  public let network: ScriptedNetwork
  /// The server of all URLs.
  public let server = ScriptedServer()
  /// The clock of the loader, which starts on 2027-01-15.
  public let clock = ScriptedClock(1_800_000_000)
  /// The loader under test.
  public let loader: ImageLoader
  /// The folder of the cache and the settings.
  public let folder: String

  /// - Parameters:
  ///   - kind: The first network.
  ///   - configuration: The policy, decoder, observers and requests of the loader; its folders and its
  ///     service are not used.
  /// - Throws: ``ConfigurationError`` for an unusable configuration, or if the folder cannot be created.
  public init(
    _ kind: NetworkKind = .wifi,
    configuration: ImageLoader.Configuration = ImageLoader.Configuration(environment: [:])
  ) throws(ConfigurationError) {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? P_tmpdir
    var template = Array("\(parent)/feedimg-testing-XXXXXX".utf8CString)
    let isMade = template.withUnsafeMutableBufferPointer { $0.baseAddress.flatMap { mkdtemp($0) } } != nil
    guard isMade else {
      throw ConfigurationError(["cannot create a folder in `\(parent)`"], isSystemFailure: true)
    }
    folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    network = ScriptedNetwork(kind)
    var configuration = configuration
    configuration.configurationFolder = folder + "/config"
    configuration.systemFolder = folder + "/system"
    configuration.environment = ["HOME": folder]
    let (catalog, time) = (try PolicyCatalog(configuration), clock)
    let (settings, isDecoding) = (SettingsStore(folder: folder + "/config"), configuration.decoder != nil)
    let now: @Sendable () -> Double = { time.now }
    let identity = try RequestIdentity(configuration)
    let waits = MonotonicTime.system()
    let storage = ImageStorage(
      DiskCache(folder: folder + "/cache", limits: CacheLimits(settings.currentSettings()), clock: now),
      MemoryCache { MemoryLimits(total: .mebibytes(32), isDecoding: isDecoding) },
      budget: MemoryBudget(isDecoding: isDecoding),
      identity: identity,
      // Tests must not depend on the memory of the machine.
      environment: ["MEMORY_PRESSURE_WATCH": "/dev/null"]
    )
    let resources = LoaderResources(
      sources: FactSources(
        network: network,
        settings: settings,
        policy: try PolicyInForce(configuration.policy, on: catalog),
        hostFacts: HostFacts(configuration.hostFacts),
        time: waits,
        writes: storage.writes
      ),
      storage: storage,
      transport: Transport(
        server,
        identity: identity,
        retries: RetrySchedule(maximumTries: 1),
        time: waits
      ),
      decoder: configuration.decoder,
      observers: configuration.observers,
      clock: now,
      time: waits
    )
    let overrides = try CheckedOverride.check(configuration.overrides, among: catalog.facts)
    loader = ImageLoader(resources, overrides: overrides)
  }

  deinit { Self.remove(folder) }

  private static func remove(_ path: String) {
    if unlink(path) == 0 { return }
    for name in (try? FilePath.names(in: path)) ?? [] { remove("\(path)/\(name)") }
    rmdir(path)
  }
}
