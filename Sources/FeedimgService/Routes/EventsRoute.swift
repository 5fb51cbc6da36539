import FeedimgModel

/// `GET /v1/events`: the network, the settings and the policy as they change (server-sent events).
struct EventsRoute: Sendable {
  let hub: EventHub

  /// A stream that lasts until the client leaves, or is too slow.
  func answer(_ request: ServiceRequest) -> ServiceAnswer {
    // A request for the head alone has no reader.
    guard request.method != "HEAD" else {
      return ServiceAnswer(fields: Self.fields, body: .absent(length: nil))
    }
    return ServiceAnswer(
      fields: Self.fields,
      body: .events(hub.subscribe(after: request.fields["Last-Event-ID"]))
    )
  }

  private static let fields = [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store")]
}
