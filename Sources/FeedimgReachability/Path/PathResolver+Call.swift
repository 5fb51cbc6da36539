extension PathResolver {
  /// Finds what carries a dialled connection (PPP).
  ///
  /// The kernel does not tell which session belongs to which interface. So only where there are as many
  /// PPPoE sessions as PPP interfaces does each have one.
  func answerCall(_ call: Link, _ path: NetworkPath) throws(NetlinkError) -> PathFinding {
    let carriers = Set(kernel.carriersOfPPPoE())
    guard !carriers.isEmpty else { return try followLine(of: call, path) }
    let links = try kernel.links(.all)
    let calls = links.filter { $0.hardwareType == HardwareType.ppp }
    guard calls.count <= kernel.carriersOfPPPoE().count else {
      return finish(
        path,
        with: LinkClass(
          medium: .unknown,
          reason: "`\(call.name)` is dialled, and nothing tells whether over Ethernet or by a modem"
        )
      )
    }
    return try gather(links.filter { carriers.contains($0.name) }, below: path)
  }

  /// Where no PPPoE is in sight: a modem, or a tunnel of a program that pppd speaks through.
  ///
  /// A modem is taken for granted where nothing tells, since to take its data for free would cost.
  private func followLine(of call: Link, _ path: NetworkPath) throws(NetlinkError) -> PathFinding {
    if kernel.dialler(of: call) == .tunnel {
      var path = path
      path.isTunnelled = true
      return try digTunnel(call, to: nil, path)
    }
    return finish(
      path,
      with: LinkClass(
        medium: .cellular,
        reason: "`\(call.name)` is dialled over a serial line, as mobile modems are"
      )
    )
  }
}
