import FeedimgModel

/// `GET /v1/events`: changes of the network, the settings, the policy, transfers and images (server-sent events).
struct EventsRoute: Sendable {
  let hub: EventHub

  /// A stream that lasts until the client disconnects or is too slow.
  func response(to request: ServiceRequest) -> ServiceResponse {
    // A request for the head adds no reader.
    guard request.method != "HEAD" else {
      return ServiceResponse(fields: Self.fields, body: .absent(length: nil))
    }
    return ServiceResponse(
      fields: Self.fields,
      body: .events(hub.subscribe(after: request.fields["Last-Event-ID"]))
    )
  }

  /// The fields of a stream of events.
  static let fields = [("Content-Type", "text/event-stream"), ("Cache-Control", "no-store")]
}
