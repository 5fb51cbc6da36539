// swift-tools-version: 6.2
import PackageDescription

/// The language settings of every target; a target adds nothing of its own.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),  // SE-0335
  .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
  .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // SE-0461
  .treatAllWarnings(as: .error),
]

/// Decodes one format, behind `CPixels`.
func codec(_ name: String, _ libraries: [String]) -> Target {
  .target(name: name, dependencies: ["CPixels"], linkerSettings: libraries.map { .linkedLibrary($0) })
}

/// A program that measures, for the script in `Benchmarks`; no product.
func benchmark(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(
    name: name,
    dependencies: dependencies,
    path: "Benchmarks/\(name)",
    swiftSettings: settings
  )
}

/// An edge: one outside thing, behind a port of the model.
func edge(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(name: name, dependencies: ["FeedimgModel"] + dependencies, swiftSettings: settings)
}

/// SwiftNIO, as far as the service uses it.
let nio = ["NIOCore", "NIOPosix", "NIOHTTP1"].map {
  Target.Dependency.product(name: $0, package: "swift-nio")
}

let package = Package(
  name: "feedimg",
  products: [
    .library(name: "Feedimg", targets: ["Feedimg"]),
    // What people look at and look after: the doctor, the cache, usage and policies.
    .library(name: "FeedimgAdmin", targets: ["FeedimgAdmin"]),
    // Pixels of encoded images, for programs that do not decode themselves; others need none of its libraries.
    .library(name: "FeedimgDecoding", targets: ["FeedimgDecoding"]),
    // Apart, so that who links Feedimg alone builds neither swift-log nor swift-metrics.
    .library(name: "FeedimgObservability", targets: ["FeedimgObservability"]),
    .executable(name: "feedimg", targets: ["FeedimgCLI"]),
    .executable(name: "feedimg-serve", targets: ["FeedimgServe"]),
  ],
  dependencies: [
    // Command-line parsing, help and shell completions: the Swift project's own parser.
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    // The logging interface that Swift servers and clients share; for FeedimgObservability alone.
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    // The same for metrics; for FeedimgObservability alone.
    .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
    // HTTP/1.1 over sockets for the service. No web framework above it: the routes are few, what breaks HTTP is to be
    // answered in our own words, and nothing may wake for a clock while nobody asks.
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
  ],
  targets: [
    // Rank 5: the front end. It decides nothing.
    .executableTarget(
      name: "FeedimgCLI",
      dependencies: [
        "Feedimg", "FeedimgAdmin", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings
    ),

    // The service as a program of its own, which `feedimg serve` becomes: the commands stay as quick to start.
    .executableTarget(
      name: "FeedimgServe",
      dependencies: ["Feedimg", "FeedimgService"],
      swiftSettings: settings
    ),

    // Rank 3: what others build on the loader.
    .target(
      name: "FeedimgObservability",
      dependencies: [
        "Feedimg", .product(name: "Logging", package: "swift-log"),
        .product(name: "Metrics", package: "swift-metrics"),
      ],
      swiftSettings: settings
    ),

    // Rank 4: the service over HTTP.
    .target(
      name: "FeedimgService",
      dependencies: [
        "Feedimg", "FeedimgAdmin", "FeedimgModel", "FeedimgJSON", "FeedimgSystem", "CXXHash", "CRuntime",
      ] + nio,
      resources: [.embedInCode("openapi.json"), .embedInCode("Page")],
      swiftSettings: settings
    ),

    // Rank 3: what people look at: the doctor, cache administration, usage reports, policy verbs.
    .target(
      name: "FeedimgAdmin",
      dependencies: [
        "Feedimg", "FeedimgModel", "FeedimgPolicy", "FeedimgPolicies", "FeedimgReachability",
        "FeedimgTransfer", "FeedimgCache", "FeedimgSettings", "FeedimgSQLite", "FeedimgUsage", "FeedimgJSON",
        "FeedimgSystem",
      ],
      swiftSettings: settings
    ),

    // Rank 2: wiring, the only target that sees both the policy and the edges.
    .target(
      name: "Feedimg",
      dependencies: [
        "FeedimgModel", "FeedimgPolicy", "FeedimgPolicies", "FeedimgReachability", "FeedimgTransfer",
        "FeedimgCache", "FeedimgSettings", "FeedimgUsage", "FeedimgJSON", "FeedimgSystem",
      ],
      swiftSettings: settings
    ),

    // Rank 1: the edges, one outside thing each; no edge imports another, nor the policy.
    edge("FeedimgReachability", ["FeedimgSystem", "CNetlink", "CLibNL"]),
    edge("FeedimgTransfer", ["FeedimgSystem", "CCurl"]),
    edge("FeedimgCache", ["FeedimgSQLite", "FeedimgSystem", "CXXHash"]),
    edge("FeedimgSettings", ["FeedimgJSON", "FeedimgSystem"]),
    edge("FeedimgUsage", ["FeedimgSQLite"]),
    edge(
      "FeedimgDecoding",
      ["FeedimgSystem", "CPixels", "CJPEG", "CPNG", "CWebP", "CGIF", "CAVIF", "CLCMS", "CZimg"]
    ),
    .target(name: "FeedimgPolicy", dependencies: ["FeedimgModel", "FeedimgJSON"], swiftSettings: settings),

    // Rank 0: pure values and the ports, JSON with positions, the tables, and C.
    .target(name: "FeedimgModel", dependencies: ["FeedimgJSON"], swiftSettings: settings),
    .target(name: "FeedimgJSON", swiftSettings: settings),
    // What every edge needs of Linux: files, locks, inotify, threads, wakers, clocks, waiting tasks.
    .target(name: "FeedimgSystem", dependencies: ["CLinux"], swiftSettings: settings),
    .target(name: "CLinux"),
    .target(name: "FeedimgSQLite", dependencies: ["CSQLite"], swiftSettings: settings),
    .target(
      name: "FeedimgPolicies",
      path: "Policies",
      exclude: ["README.md"],
      resources: [
        .embedInCode("always-original.md"), .embedInCode("always-original.tests.md"),
        .embedInCode("budgeted.md"), .embedInCode("budgeted.tests.md"),
        .embedInCode("data-saver.md"), .embedInCode("data-saver.tests.md"),
        .embedInCode("default.md"), .embedInCode("default.tests.md"),
        .embedInCode("metered.md"), .embedInCode("metered.tests.md"),
        .embedInCode("roaming-aware.md"), .embedInCode("roaming-aware.tests.md"),
        .embedInCode("wifi-only.md"), .embedInCode("wifi-only.tests.md"),
      ],
      swiftSettings: settings
    ),
    // libnl: the netlink library of iproute2's world, for its sockets. Its core alone: the part for routes
    // would cost every start another 150 microseconds.
    .systemLibrary(
      name: "CLibNL",
      path: "Sources/CLibNL",
      pkgConfig: "libnl-3.0",
      providers: [.apt(["libnl-3-dev"])]
    ),
    // What Swift cannot call of the kernel's headers: ethtool's ioctl and the socket filter.
    .target(name: "CNetlink", dependencies: ["CLibNL"]),
    // libcurl: HTTP, TLS, proxies. Opened when the first transfer starts, so that `resolve` never pays.
    .target(name: "CCurl"),
    // SQLite: the cache's index and the usage ledger, safe across processes and kill -9.
    .systemLibrary(
      name: "CSQLite",
      path: "Sources/CSQLite",
      pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"])]
    ),
    // xxHash: the checksum of stored bodies, at memory speed; header only.
    .target(name: "CXXHash"),
    // Where Swift's tasks run, and the allocator's settings, for a program that shall sleep.
    .target(name: "CRuntime"),

    // The codecs of FeedimgDecoding, each behind one interface (CPixels), with their long jumps kept in C. They are
    // linked by name, not found by pkg-config, so that who builds without them hears nothing of them.
    .target(name: "CPixels"),
    codec("CJPEG", ["jpeg"]),
    codec("CPNG", ["png16", "z"]),
    codec("CWebP", ["webp", "webpdemux"]),
    codec("CGIF", ["gif"]),
    codec("CAVIF", ["avif"]),
    // Little CMS: colours to sRGB. zimg: resampling.
    .target(name: "CLCMS", linkerSettings: [.linkedLibrary("lcms2")]),
    .target(name: "CZimg", dependencies: ["CPixels"], linkerSettings: [.linkedLibrary("zimg")]),
    // Decodes one image many times, for Benchmarks/decoding; no product.
    benchmark("DecodingBenchmark", ["FeedimgDecoding", "FeedimgModel"]),

    // A cache used as the library uses it, for Benchmarks/cache; no product.
    benchmark("CacheBenchmark", ["FeedimgCache", "FeedimgModel", "FeedimgSystem"]),
    // Many downloads in one process, for Benchmarks/transfers; no product.
    benchmark("TransferBenchmark", ["FeedimgTransfer", "FeedimgModel"]),
    // A scrolling client, for Benchmarks/pipeline; no product.
    benchmark("PipelineBenchmark", ["Feedimg"]),

    .testTarget(
      name: "FeedimgModelTests",
      dependencies: ["FeedimgModel", "FeedimgJSON"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "FeedimgSystemTests",
      dependencies: ["FeedimgSystem", "TestSystem"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "FeedimgPolicyTests",
      dependencies: ["FeedimgPolicy", "FeedimgPolicies", "FeedimgModel", "FeedimgJSON"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "FeedimgReachabilityTests",
      dependencies: [
        "FeedimgReachability", "FeedimgModel", "FeedimgSystem", "CNetlink", "CTestKernel", "TestSystem",
      ],
      swiftSettings: settings
    ),
    // A network, a bus with its services, processes, threads and folders of a test's own.
    .target(
      name: "TestSystem",
      dependencies: ["FeedimgSystem", "CTestKernel"],
      path: "Tests/TestSystem",
      swiftSettings: settings
    ),
    // Runs a program whose netlink is refused, for the tests of the command.
    .executableTarget(
      name: "WithoutNetlink",
      dependencies: ["CTestKernel"],
      path: "Tests/WithoutNetlink",
      swiftSettings: settings
    ),
    // Network namespaces and refused system calls, for one thread of a test.
    .target(name: "CTestKernel", path: "Tests/CTestKernel"),
    .testTarget(
      name: "FeedimgTransferTests",
      dependencies: ["FeedimgTransfer", "FeedimgModel", "CCurl", "LoopbackServer"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "FeedimgCacheTests",
      dependencies: [
        "FeedimgCache", "FeedimgModel", "FeedimgSQLite", "FeedimgSystem", "CSQLite", "CacheWorker",
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "FeedimgDecodingTests",
      dependencies: ["FeedimgDecoding", "FeedimgModel", "CPixels"],
      exclude: ["Fixtures"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "FeedimgSettingsTests",
      dependencies: ["FeedimgSettings", "FeedimgModel", "FeedimgJSON", "FeedimgSystem", "TestSystem"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "FeedimgUsageTests",
      dependencies: ["FeedimgUsage", "FeedimgModel", "FeedimgSQLite", "UsageWorker"],
      swiftSettings: settings
    ),
    // Adds to a ledger from a process of its own, to be killed there; for the tests alone.
    .executableTarget(
      name: "UsageWorker",
      dependencies: ["FeedimgUsage", "FeedimgModel"],
      path: "Tests/UsageWorker",
      swiftSettings: settings
    ),
    .testTarget(
      name: "FeedimgTests",
      dependencies: [
        "Feedimg", "FeedimgCache", "FeedimgDecoding", "FeedimgModel", "FeedimgPolicies", "FeedimgPolicy",
        "FeedimgSettings", "FeedimgSQLite", "FeedimgSystem", "FeedimgTransfer", "FeedimgUsage",
        "LoopbackServer", "TestSystem",
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "FeedimgAdminTests",
      dependencies: ["FeedimgAdmin", "Feedimg", "FeedimgModel", "FeedimgSettings"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "FeedimgObservabilityTests",
      dependencies: [
        "FeedimgObservability", "Feedimg", .product(name: "Logging", package: "swift-log"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "FeedimgCLITests",
      dependencies: [
        "FeedimgCLI", "FeedimgServe", "LoopbackServer", "FeedimgJSON", "TestSystem", "WithoutNetlink",
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "FeedimgServiceTests",
      dependencies: [
        "Feedimg", "FeedimgAdmin", "FeedimgService", "FeedimgServe", "FeedimgModel", "FeedimgJSON",
        "LoopbackServer", "FeedimgDecoding", "FeedimgSystem",
        .product(name: "NIOEmbedded", package: "swift-nio"),
      ] + nio,
      swiftSettings: settings
    ),
    // Uses a cache from a process of its own, to be killed or starved there; for the tests alone.
    .executableTarget(
      name: "CacheWorker",
      dependencies: ["FeedimgCache", "FeedimgModel", "FeedimgSystem", "CFaults"],
      path: "Tests/CacheWorker",
      swiftSettings: settings
    ),
    // Looks at the network many times, for Benchmarks/reachability; no product.
    benchmark("ReachabilityBenchmark", ["FeedimgReachability", "FeedimgModel"]),
    // Decides very often in one process, for Benchmarks/policy; no product.
    benchmark("PolicyBenchmark", ["FeedimgPolicy", "FeedimgPolicies", "FeedimgModel", "CAllocations"]),
    // Counts what the process of a benchmark allocates.
    .target(name: "CAllocations", path: "Benchmarks/CAllocations"),
    // Makes system calls on files fail, for the worker alone.
    .target(name: "CFaults", path: "Tests/CFaults"),
    // A real HTTP server on loopback that can also misbehave; for the tests alone.
    .target(
      name: "LoopbackServer",
      dependencies: ["CTestKernel"],
      path: "Tests/LoopbackServer",
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
