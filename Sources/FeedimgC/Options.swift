import CFeedimg
import Feedimg
import FeedimgModel
import FeedimgPipeline

/// The options of a loader.
struct Options {
  var configuration = ImageLoader.Configuration()
  var hasThread = true

  /// Reads the options; NULL has the defaults.
  init(_ pointer: UnsafePointer<feedimg_options>?) throws(CallError) {
    guard let options = try read(pointer, "options") else { return }
    switch options.dispatch {
    case FEEDIMG_DISPATCH_THREAD: hasThread = true
    case FEEDIMG_DISPATCH_LOOP: hasThread = false
    default: throw CallError(FEEDIMG_ERROR_ARGUMENT, "`options.dispatch` is \(options.dispatch.rawValue)")
    }
    if let folders = try read(options.folders, "options.folders") {
      configuration.cacheFolder = text(folders.cache)
      configuration.configurationFolder = text(folders.settings)
      configuration.stateFolder = text(folders.state)
    }
    if let policy = text(options.policy) { configuration.policy = .named(policy) }
    for fact in try elements(options.overrides, options.override_count, "options.overrides") {
      let (name, value) = try pair(fact, "options.overrides")
      configuration.overrides.append(SituationOverride(fact: name, value: value, source: "options.overrides"))
    }
    for fact in try elements(options.host_facts, options.host_fact_count, "options.host_facts") {
      let (name, values) = try pair(fact, "options.host_facts")
      configuration.hostFacts.append(HostFact(name: name, values: list(values)))
    }
    if let requests = try read(options.requests, "options.requests") { try take(requests) }
    configuration.service = text(options.service)
    if options.memory_limit > 0 { configuration.memoryLimit = ByteCount(Int(clamping: options.memory_limit)) }
    if let decoder = try read(options.decoder, "options.decoder") {
      configuration.decoder = try ProgramDecoder(decoder)
    }
  }

  private mutating func take(_ requests: feedimg_requests) throws(CallError) {
    if let userAgent = text(requests.user_agent) { configuration.userAgent = userAgent }
    configuration.requests.account = text(requests.account)
    for header in try elements(requests.headers, requests.header_count, "options.requests.headers") {
      let origin = try given(text(header.origin), "options.requests.headers.origin")
      let name = try given(text(header.name), "options.requests.headers.name")
      let value = try given(text(header.value), "options.requests.headers.value")
      configuration.requests.headers[origin, default: [:]][name] = value
    }
    configuration.requests.proxy = text(requests.proxy)
    configuration.requests.certificateFile = text(requests.certificate_file)
    if let file = text(requests.client_certificate) {
      let name: StaticString = "options.requests.client_origins"
      var origins: [String] = []
      for origin in try elements(requests.client_origins, requests.client_origin_count, name) {
        origins.append(try given(text(origin), name))
      }
      configuration.requests.clientCertificate = ClientCertificate(
        origins: origins,
        file: file,
        keyFile: text(requests.client_key)
      )
    }
    configuration.reachesPrivateHosts = requests.refuses_private_hosts == 0
  }
}

/// Returns a fact's name and value; NULL is a failure.
private func pair(_ fact: feedimg_fact, _ name: StaticString) throws(CallError) -> (String, String) {
  (try given(text(fact.name), name), try given(text(fact.value), name))
}

/// Returns the parts of a list that commas separate.
func list(_ text: String) -> [String] {
  text.split(separator: ",", omittingEmptySubsequences: false).map { part in
    String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}

/// Reads the values of declared facts.
func readFacts(_ facts: UnsafePointer<feedimg_fact>?, _ count: Int) throws(CallError) -> [String: String] {
  var values: [String: String] = [:]
  for fact in try elements(facts, count, "facts") {
    let (name, value) = try pair(fact, "facts")
    values[name] = value
  }
  return values
}
