import FeedimgModel

/// What every request for an image says of who asks, which servers may choose an image by (RFC 9110 §12).
struct RequestIdentity: Sendable {
  /// What feedimg can recognise, the smaller formats first (RFC 9110 §12.5.1).
  let accepted = HTTPFields([
    .init(
      name: "Accept",
      value: "image/avif,image/webp,image/png,image/jpeg,image/gif,image/*;q=0.8,*/*;q=0.5"
    )
  ])
  /// Everything that is sent with every request, that of the downloader included; `Vary` may name any of it.
  let sent: HTTPFields

  init(userAgent: String) {
    sent = HTTPFields(
      accepted.fields + [
        .init(name: "User-Agent", value: userAgent), .init(name: "Accept-Encoding", value: "identity"),
      ]
    )
  }
}
