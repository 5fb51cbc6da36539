// swift-tools-version: 6.2
import PackageDescription

/// The language settings of every target.
///
/// Targets add no settings of their own.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),  // SE-0335
  .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
  .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // SE-0461
  .treatAllWarnings(as: .error),
]

/// The C targets of `FeedimgDecoding`: the libraries that each links, and the Debian package with their headers.
///
/// The targets keep the long jumps of codecs in C. Their libraries are linked by name, without pkg-config, so that
/// builds without them do not warn. `Makefile` and `Scripts/packages` read these rows, so each row is one line.
let codecs = [
  (target: "CJPEG", links: ["jpeg"], debian: "libjpeg62-turbo-dev"),
  (target: "CPNG", links: ["png16", "z"], debian: "libpng-dev"),
  (target: "CWebP", links: ["webp", "webpdemux"], debian: "libwebp-dev"),
  (target: "CGIF", links: ["gif"], debian: "libgif-dev"),
  (target: "CAVIF", links: ["avif"], debian: "libavif-dev"),
  // No codecs: Little CMS converts colours to sRGB, and zimg resamples.
  (target: "CLCMS", links: ["lcms2"], debian: "liblcms2-dev"),
  (target: "CZimg", links: ["zimg"], debian: "libzimg-dev"),
]

/// The linker options of the installed programs: short tables of relocations and symbols.
///
/// Together with the static libraries of `make build`, they save a tenth of the time of `feedimg resolve`.
///
/// libgcc stays shared. Otherwise pthread_exit(3) would load it when a thread ends, and abort the process on failure.
let compactProgram: [LinkerSetting] = [
  .unsafeFlags(
    ["-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs", "-Xlinker", "--no-export-dynamic"],
    .when(configuration: .release)
  )
]

/// A program for a script in `Benchmarks`.
///
/// It is not a product.
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

/// The parts of SwiftNIO that the service uses.
let nio = ["NIOCore", "NIOPosix", "NIOHTTP1", "NIOWebSocket"].map {
  Target.Dependency.product(name: $0, package: "swift-nio")
}

let package = Package(
  name: "feedimg",
  products: [
    .library(name: "Feedimg", targets: ["Feedimg"]),
    // The user's tools: the doctor, the cache, usage and policies.
    .library(name: "FeedimgAdmin", targets: ["FeedimgAdmin"]),
    // Pixels of encoded images, for programs without a decoder. Other programs need none of its libraries.
    .library(name: "FeedimgDecoding", targets: ["FeedimgDecoding"]),
    // The pictures of feeds and pages as items. Programs without them need not link libxml2.
    .library(name: "FeedimgFeeds", targets: ["FeedimgFeeds"]),
    // A separate product, so that programs with Feedimg alone build neither swift-log nor swift-metrics.
    .library(name: "FeedimgObservability", targets: ["FeedimgObservability"]),
    // Scripted networks, servers and clocks, and values, for the tests of programs.
    .library(name: "FeedimgTesting", targets: ["FeedimgTesting"]),
    // The C interface. `make library` links it as `libfeedimg.so.0`, which exports the functions of `feedimg.h` alone.
    .library(name: "FeedimgC", type: .dynamic, targets: ["FeedimgC"]),
    // The decoder for the C interface, in a library of its own because it needs the codecs.
    .library(name: "FeedimgDecodingC", type: .dynamic, targets: ["FeedimgDecodingC"]),
    .executable(name: "feedimg", targets: ["FeedimgCLI"]),
    .executable(name: "feedimg-serve", targets: ["FeedimgServe"]),
    .executable(name: "feedimg-pixels", targets: ["FeedimgPixels"]),
  ],
  dependencies: [
    // Command-line parsing, help and shell completions, from the Swift project.
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    // The logging interface of Swift servers and clients, for FeedimgObservability alone.
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    // The metrics interface, for FeedimgObservability alone.
    .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
    // HTTP/1.1 over sockets for the service. There is no web framework above it: the routes are few, and the
    // service words its own HTTP errors. An idle service must not wake for timers.
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
  ],
  targets: [
    // Rank 6: the front end. It decides nothing.
    .executableTarget(
      name: "FeedimgCLI",
      dependencies: [
        "Feedimg", "FeedimgAdmin", "FeedimgFeeds", "FeedimgSystem",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings,
      linkerSettings: compactProgram
    ),

    // The service as a separate program, which `feedimg serve` runs, so that other commands start quickly.
    .executableTarget(
      name: "FeedimgServe",
      dependencies: ["Feedimg", "FeedimgService", "FeedimgSystem"],
      swiftSettings: settings,
      linkerSettings: compactProgram
    ),

    // Converts one image for a client of the service, which loads no codecs itself.
    .executableTarget(
      name: "FeedimgPixels",
      dependencies: ["FeedimgDecoding", "FeedimgModel", "FeedimgSystem", "CPNG", "CPixels"],
      swiftSettings: settings,
      linkerSettings: compactProgram
    ),

    // Rank 4: features on top of the loader.
    .target(
      name: "FeedimgObservability",
      dependencies: [
        "Feedimg", .product(name: "Logging", package: "swift-log"),
        .product(name: "Metrics", package: "swift-metrics"),
      ],
      swiftSettings: settings
    ),

    .target(
      name: "FeedimgTesting",
      dependencies: [
        "Feedimg", "FeedimgPipeline", "FeedimgModel", "FeedimgTransfer", "FeedimgHTTPCache",
        "FeedimgReachability", "FeedimgSettings", "FeedimgSystem",
      ],
      swiftSettings: settings
    ),

    // Rank 5: the C interface. Its header is written by hand, and the compiler compares both.
    .target(
      name: "FeedimgC",
      dependencies: [
        "CFeedimg", "Feedimg", "FeedimgAdmin", "FeedimgPipeline", "FeedimgModel", "FeedimgSystem",
      ],
      swiftSettings: settings
    ),
    .target(
      name: "FeedimgDecodingC",
      dependencies: ["CFeedimg", "FeedimgDecoding", "FeedimgModel"],
      swiftSettings: settings
    ),
    // The headers of the C interface.
    .target(name: "CFeedimg"),

    // Rank 5: the service over HTTP.
    .target(
      name: "FeedimgService",
      dependencies: [
        "Feedimg", "FeedimgAdmin", "FeedimgFeeds", "FeedimgHTTPCache", "FeedimgModel", "FeedimgJSON",
        "FeedimgSystem", "CXXHash", "CHMAC",
      ] + nio,
      resources: [.embedInCode("openapi.json"), .embedInCode("Page")],
      swiftSettings: settings
    ),

    // Rank 4: the doctor, cache administration, usage reports, policy verbs.
    .target(
      name: "FeedimgAdmin",
      dependencies: [
        "Feedimg", "FeedimgModel", "FeedimgPolicy", "FeedimgPolicies", "FeedimgReachability",
        "FeedimgTransfer", "FeedimgHTTPCache", "FeedimgSettings", "FeedimgSQLite", "FeedimgUsage",
        "FeedimgJSON", "FeedimgSystem",
      ],
      swiftSettings: settings
    ),

    // Rank 3: the public face, which makes the parts of a loader and shows images in views.
    .target(
      name: "Feedimg",
      dependencies: [
        "FeedimgPipeline", "FeedimgModel", "FeedimgPolicy", "FeedimgReachability", "FeedimgTransfer",
        "FeedimgHTTPCache", "FeedimgSettings", "FeedimgUsage", "FeedimgJSON", "FeedimgSystem",
      ],
      swiftSettings: settings
    ),

    // Rank 2: one load, from the decision to the pixels.
    .target(
      name: "FeedimgPipeline",
      dependencies: [
        "FeedimgModel", "FeedimgPolicy", "FeedimgPolicies", "FeedimgTransfer",
        "FeedimgHTTPCache", "FeedimgSettings", "FeedimgUsage", "FeedimgJSON", "FeedimgSystem",
      ],
      swiftSettings: settings
    ),

    // Rank 1: the edges, one outside thing each. No edge imports another, or the policy.
    edge("FeedimgReachability", ["FeedimgSystem", "CNetlink", "CLibNL"]),
    edge("FeedimgTransfer", ["FeedimgSystem", "CCurl"]),
    edge("FeedimgHTTPCache", ["FeedimgSQLite", "FeedimgSystem", "CXXHash"]),
    edge("FeedimgSettings", ["FeedimgJSON", "FeedimgSystem"]),
    edge("FeedimgUsage", ["FeedimgSQLite", "FeedimgSystem"]),
    edge("FeedimgDecoding", ["FeedimgSystem", "CPixels"] + codecs.map { .target(name: $0.target) }),
    // Feeds, API responses and pages to items; pure.
    edge("FeedimgFeeds", ["FeedimgJSON", "CXML"]),
    .target(name: "FeedimgPolicy", dependencies: ["FeedimgModel", "FeedimgJSON"], swiftSettings: settings),

    // Rank 0: pure values and the ports, JSON with positions, the tables, and C.
    .target(name: "FeedimgModel", dependencies: ["FeedimgJSON", "CXXHash"], swiftSettings: settings),
    .target(name: "FeedimgJSON", swiftSettings: settings),
    // The Linux features that every edge needs, such as files, locks, threads and clocks.
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
    // libnl: netlink sockets. Only its core: the routing library would add 150 microseconds to every start.
    .systemLibrary(
      name: "CLibNL",
      path: "Sources/CLibNL",
      pkgConfig: "libnl-3.0",
      providers: [.apt(["libnl-3-dev"])]
    ),
    // libxml2: XML and HTML, for FeedimgFeeds. It converts encodings, and parses HTML as people write it.
    .systemLibrary(
      name: "CLibXML2",
      path: "Sources/CLibXML2",
      pkgConfig: "libxml-2.0",
      providers: [.apt(["libxml2-dev"])]
    ),
    // The functions of libxml2, opened for the first document, so that `resolve` does not load it.
    .target(name: "CXML", dependencies: ["CLibXML2"]),
    // Kernel headers that Swift cannot import: ethtool's ioctl and the socket filter.
    .target(name: "CNetlink", dependencies: ["CLibNL"]),
    // libcurl: HTTP, TLS, proxies. Opened at the first transfer, so that `resolve` does not load it.
    .target(name: "CCurl"),
    // SQLite: the cache's index and the usage ledger, safe across processes and kill -9.
    .systemLibrary(
      name: "CSQLite",
      path: "Sources/CSQLite",
      pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"])]
    ),
    // xxHash: the fast checksum of stored bodies, header only.
    .target(name: "CXXHash"),
    // libcrypto: HMAC for the addresses of the gateway, in the service alone.
    .target(name: "CHMAC", linkerSettings: [.linkedLibrary("crypto")]),

    // The interface of all codecs. The end of this file adds a target for each row of `codecs`.
    .target(name: "CPixels"),
    // Decodes one image many times, for Benchmarks/decoding.
    benchmark("DecodingBenchmark", ["FeedimgDecoding", "FeedimgModel"]),

    // Uses a cache as the library does, for Benchmarks/cache.
    benchmark("CacheBenchmark", ["FeedimgHTTPCache", "FeedimgModel", "FeedimgSystem", "TestSystem"]),
    // Many downloads in one process, for Benchmarks/transfers.
    benchmark("TransferBenchmark", ["FeedimgTransfer", "FeedimgModel", "FeedimgSystem"]),
    // A scrolling client, for Benchmarks/pipeline.
    benchmark("PipelineBenchmark", ["Feedimg"]),

    .testTarget(
      name: "FeedimgModelTests",
      dependencies: ["FeedimgModel", "FeedimgJSON"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "FeedimgFeedsTests",
      dependencies: ["FeedimgFeeds", "FeedimgModel", "FeedimgJSON"],
      exclude: ["Samples"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "FeedimgSystemTests",
      dependencies: ["FeedimgSystem", "CTestKernel", "TestSystem"],
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
        "FeedimgReachability", "FeedimgTesting", "FeedimgModel", "FeedimgSystem", "CNetlink", "CTestKernel",
        "TestSystem",
      ],
      swiftSettings: settings
    ),
    // Test helpers: a network namespace, a bus with services, processes, threads, folders and commits of images.
    .target(
      name: "TestSystem",
      dependencies: ["FeedimgModel", "FeedimgSystem", "CTestKernel"],
      path: "Tests/TestSystem",
      swiftSettings: settings
    ),
    // Runs a program without netlink, for the tests of the command.
    .executableTarget(
      name: "WithoutNetlink",
      dependencies: ["CTestKernel"],
      path: "Tests/WithoutNetlink",
      swiftSettings: settings
    ),
    // Runs a program with a standard output that is full, for the tests of the command.
    .executableTarget(
      name: "WithFullOutput",
      dependencies: ["CTestKernel"],
      path: "Tests/WithFullOutput",
      swiftSettings: settings
    ),
    // Network namespaces and refused system calls, for one thread of a test.
    .target(name: "CTestKernel", path: "Tests/CTestKernel"),
    .testTarget(
      name: "FeedimgTransferTests",
      dependencies: ["FeedimgTransfer", "FeedimgModel", "FeedimgSystem", "CCurl", "LoopbackServer"],
      swiftSettings: settings
    ),
    .testTarget(
      name: "FeedimgHTTPCacheTests",
      dependencies: [
        "FeedimgHTTPCache", "FeedimgModel", "FeedimgSQLite", "FeedimgSystem", "CSQLite", "CacheWorker",
        "TestSystem",
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "FeedimgDecodingTests",
      dependencies: ["FeedimgDecoding", "FeedimgModel", "FeedimgSystem", "CPixels"],
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
    // Counts usage in a separate process, which tests can kill.
    .executableTarget(
      name: "UsageWorker",
      dependencies: ["FeedimgUsage", "FeedimgModel"],
      path: "Tests/UsageWorker",
      swiftSettings: settings
    ),
    .testTarget(
      name: "FeedimgTests",
      dependencies: [
        "Feedimg", "FeedimgPipeline", "FeedimgHTTPCache", "FeedimgDecoding", "FeedimgModel",
        "FeedimgPolicies",
        "FeedimgPolicy", "FeedimgSettings", "FeedimgSQLite", "FeedimgSystem", "FeedimgTransfer",
        "FeedimgUsage",
        "LoopbackServer", "TestSystem",
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "FeedimgTestingTests",
      dependencies: ["FeedimgTesting", "Feedimg"],
      swiftSettings: settings
    ),
    // An example: a program's own decoder, with the libraries of three more formats.
    .target(
      name: "CMoreFormats",
      path: "Examples/more-formats/CMoreFormats",
      linkerSettings: ["heif", "jxl", "rsvg-2", "cairo", "gobject-2.0"].map { .linkedLibrary($0) }
    ),
    .target(
      name: "MoreFormats",
      dependencies: ["CMoreFormats", "Feedimg"],
      path: "Examples/more-formats/MoreFormats",
      swiftSettings: settings
    ),
    .testTarget(
      name: "MoreFormatsTests",
      dependencies: ["MoreFormats", "Feedimg", "FeedimgDecoding", "FeedimgTesting"],
      exclude: ["Fixtures"],
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
        "FeedimgCLI", "FeedimgServe", "LoopbackServer", "FeedimgJSON", "FeedimgModel", "FeedimgSQLite",
        "FeedimgUsage", "TestSystem", "WithFullOutput", "WithoutNetlink",
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "FeedimgServiceTests",
      dependencies: [
        "Feedimg", "FeedimgPipeline", "FeedimgAdmin", "FeedimgService", "FeedimgServe", "FeedimgPixels",
        "FeedimgModel",
        "FeedimgJSON",
        "LoopbackServer", "FeedimgDecoding", "FeedimgSystem", "TestSystem",
        .product(name: "NIOEmbedded", package: "swift-nio"),
      ] + nio,
      swiftSettings: settings
    ),
    // Uses a cache in a separate process, which tests can kill or limit.
    .executableTarget(
      name: "CacheWorker",
      dependencies: ["FeedimgHTTPCache", "FeedimgModel", "FeedimgSystem", "CFaults", "TestSystem"],
      path: "Tests/CacheWorker",
      swiftSettings: settings
    ),
    // Reads the network state many times, for Benchmarks/reachability.
    benchmark("ReachabilityBenchmark", ["FeedimgReachability", "FeedimgModel"]),
    // Makes many decisions in one process, for Benchmarks/policy.
    benchmark("PolicyBenchmark", ["FeedimgPolicy", "FeedimgPolicies", "FeedimgModel", "CAllocations"]),
    // Counts the allocations of a benchmark.
    .target(name: "CAllocations", path: "Benchmarks/CAllocations"),
    // Makes file system calls fail, for CacheWorker alone.
    .target(name: "CFaults", path: "Tests/CFaults"),
    // A real HTTP server on loopback that can also misbehave, for tests.
    .target(
      name: "LoopbackServer",
      dependencies: ["CTestKernel"],
      path: "Tests/LoopbackServer",
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)

package.targets += codecs.map { codec in
  .target(
    name: codec.target,
    dependencies: ["CPixels"],
    linkerSettings: codec.links.map { .linkedLibrary($0) }
  )
}
